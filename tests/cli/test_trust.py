"""accord trust: until a directory is trusted, its configuration can only restrict."""

from __future__ import annotations

from support.cli_runner import Accord, Here, agent


def test_a_project_can_add_agents_and_permissions_only_once_it_is_trusted(accord: Accord, here: Here) -> None:
    (accord.project / "accord.toml").write_text(
        f"default_agent = 'own'\n[agents.own]\ncommand = {agent()!r}\n[permissions]\nallow = ['command:echo *']\n"
    )
    before = accord("run", "terminal echo hello")
    assert "without a language model" in before.out, "the built-in agent answers, not the project's"
    listed = here("agents", "list")
    assert "own" not in listed.out and "ignored until you trust this directory (accord trust" in listed.err
    warned = accord.run("terminal echo hello")
    assert warned.out.startswith("refused: echo hello")
    assert "warning: ignored, because this directory isn't trusted: allow command:echo *" in warned.err

    assert here("trust").err == f"Trusted {accord.project}\n"
    assert here("trust", "--list").out == f"{accord.project}\n"
    after = accord("run", "terminal echo hello")
    assert (after.status, after.out, after.err) == (0, "0: hello\n", "")

    assert "is no longer trusted" in here("trust", "--remove", str(accord.project)).err
    assert here("trust", "--list").out == ""
    assert "without a language model" in accord("run", "terminal echo hello").out


def test_deny_rules_of_a_project_apply_without_trust(accord: Accord) -> None:
    (accord.project / "accord.toml").write_text("[permissions]\ndeny = ['command:echo *']\n")
    done = accord.run("--allow", "all", "terminal echo hello")
    assert "denied by the project's accord.toml: deny command:echo *" in done.out


def test_only_a_directory_can_be_trusted(here: Here) -> None:
    done = here("trust", "nothing-here")
    assert (done.status, done.err) == (1, "accord: nothing-here isn't a directory, so it can't be trusted\n")
    assert "was not trusted" in here("trust", "--remove").err
    assert here("trust", "--list", "--remove").status == 2
