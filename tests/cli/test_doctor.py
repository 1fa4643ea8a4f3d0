"""accord doctor: each step reports what failed and what to do, and changes nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from support.cli_runner import Accord, Done, Here, agent, with_time


def steps(done: Done) -> dict[str, dict[str, object]]:
    return {line["stage"]: line for line in map(json.loads, done.out.splitlines())}


def test_a_healthy_agent_passes_every_step(accord: Accord) -> None:
    done = accord("doctor", agent("--offer", "resource,http,options"), "--prompt", "hello")
    assert done.status == 0 and done.err == ""
    heads = [line.split(":")[0] for line in done.out.splitlines() if not line.startswith(" ")]
    assert heads == [
        f"ok   {stage}"
        for stage in (
            "configuration",
            "permissions",
            "resolve",
            "spawn",
            "first byte",
            "initialize",
            "auth",
            "session",
            "prompt",
        )
    ]
    assert "Tester 1.2, protocol version 1" in done.out
    assert "offers: resource\n" in done.out and "mcp transports: http, stdio\n" in done.out
    assert "option: effort = low (low, high)\n" in done.out
    assert "ok   prompt: end_turn: You said: hello" in done.out
    assert f"python: {sys.version.split()[0]}" in done.out


@pytest.mark.parametrize(
    "fault, stage, said, advice",
    [
        ("dies", "initialize", "config.json: no such file", "run the command in a terminal"),
        ("forks", "initialize", "exited with status 0", "run the command in a terminal"),
        ("never", "first byte", 'last output on stderr: "still downloading"', "the agent runs but writes nothing"),
        ("garbage", "initialize", "Welcome to Tester!", "the agent's response isn't valid ACP"),
        ("refuses", "initialize", "this installation is broken", "refuses the connection"),
        ("no-session", "session", "no disk left", "opens no session"),
    ],
)
def test_a_broken_agent_fails_at_the_right_step_with_advice(
    accord: Accord, fault: str, stage: str, said: str, advice: str
) -> None:
    done = with_time(
        lambda seconds: accord("doctor", "--json", "--timeout", seconds, agent("--fault", fault)),
        lambda done: said in str(list(steps(done).values())[-1]["found"]),
    )
    assert done.status == 1
    *before, last = steps(done).values()
    assert all(step["ok"] for step in before)
    assert (last["stage"], last["ok"]) == (stage, False)
    assert said in str(last["found"]) and advice in str(last["advice"])


@pytest.mark.parametrize(
    "words, stage, said",
    [
        ([agent("--fault", "slow-session")], "session", "session/new"),
        ([agent(), "--prompt", "slow"], "prompt", "the turn didn't end within "),
    ],
)
def test_a_session_or_turn_that_never_responds_times_out(
    accord: Accord, words: list[str], stage: str, said: str
) -> None:
    done = with_time(
        lambda seconds: accord("doctor", "--json", "--timeout", seconds, *words), lambda done: stage in steps(done)
    )
    last = steps(done)[stage]
    assert (done.status, last["ok"]) == (1, False)
    assert said in str(last["found"]) and last["advice"]


@pytest.mark.parametrize(
    "target, stage, found",
    [
        ("scrib", "resolve", "did you mean scribe?"),
        ("/no/such/program --acp", "spawn", "/no/such/program doesn't exist"),
        ("unfinished 'quote", "resolve", "isn't a valid command line"),
        ("scribe", "spawn", "'no-such-program' isn't on the PATH; install it"),
        ("lost", "resolve", "is no longer installed; install it again: accord agents update lost"),
    ],
)
def test_an_agent_that_cannot_be_found_or_started_is_reported(
    accord: Accord, here: Here, target: str, stage: str, found: str
) -> None:
    accord.config.write_text(
        "[agents.scribe]\ncommand = 'no-such-program'\n"
        "[agents.lost]\ncommand = ['/no/cache/lost']\nregistry = 'lost'\nversion = '1.0.0'\n"
    )
    done = here("doctor", "--json", target)
    *_, last = steps(done).values()
    assert (done.status, last["stage"], last["ok"]) == (1, stage, False)
    assert found in str(last["found"]) and last["advice"]


def test_a_required_login_is_reported_and_not_started(accord: Accord, tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = accord("doctor", "--json", agent("--offer", "login", "--log", str(log)), "--prompt", "hello")
    auth = steps(done)["auth"]
    assert auth["ok"] is False
    assert str(auth["advice"]).startswith(
        "log in with: browser: Log in with a browser (agent); accord chat and accord run"
    )
    assert log.read_text().split() == ["initialize", "session/new"]


def test_doctor_leaves_nothing_behind(accord: Accord, tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert accord("doctor", agent("--offer", "delete,close", "--log", str(log))).status == 0
    assert log.read_text().split() == ["initialize", "session/new", "session/close", "session/delete"]
    assert not accord.data.exists() and not accord.cache.exists() and list(accord.config.parent.iterdir()) == []
    assert list(accord.project.iterdir()) == []


def test_the_agents_requests_are_rejected_during_a_check(accord: Accord) -> None:
    done = accord("doctor", "--json", agent(), "--prompt", "permission make test")
    assert steps(done)["prompt"]["found"] == "end_turn: chosen: no"


def test_a_broken_configuration_is_reported_first(accord: Accord, here: Here) -> None:
    accord.config.write_text("x = \n")
    done = here("doctor")
    assert done.status == 1
    assert done.out.startswith(f"FAIL configuration: {accord.config}: line 1, column 5: ")
    assert "→ fix the file, or move it away" in done.out


def test_rules_that_are_invalid_or_match_nothing_are_reported(accord: Accord) -> None:
    accord.config.write_text("[permissions]\nallow = ['command:make test', 'write:srcs/**']\n")
    (accord.project / "accord.toml").write_text("[permissions]\nallow = ['command:rm *']\ndeny = ['path:**/.env']\n")
    assert accord.run("permission make test").out == "chosen: once\n"
    done = accord("doctor", "--json", agent())
    found = steps(done)["permissions"]
    assert found["ok"] and str(found["found"]).startswith("3 rules")
    details = found["details"]
    assert isinstance(details, dict)
    assert details["never matched"] == [
        "deny path:**/.env (the project's accord.toml)",
        "allow write:srcs/** (your configuration): srcs doesn't exist in the project",
    ]
    assert "ignored, because this directory isn't trusted: allow command:rm *" in details["note"][0]

    accord.config.write_text("[permissions]\nallow = ['make test']\n")
    done = accord("doctor", "--json", agent())
    found = steps(done)["permissions"]
    assert not found["ok"] and f"{accord.config}: line 2: permissions.allow[0]: at character 1" in str(found["found"])
    assert done.status == 1 and steps(done)["session"]["ok"], "the agent is looked at all the same"


def test_the_default_is_the_only_configured_agent_or_the_built_in_one_and_several_are_ambiguous(
    accord: Accord, here: Here
) -> None:
    ours = accord("doctor")
    assert ours.status == 0 and "-m accord agent" in ours.out
    accord.config.write_text(f"[agents.only]\ncommand = {agent()!r}\n")
    assert accord("doctor").status == 0
    accord.config.write_text("[agents.one]\ncommand = 'one'\n[agents.two]\ncommand = 'two'\n")
    done = here("doctor")
    assert done.status == 1
    assert "FAIL resolve: no agent named, and no default agent configured" in done.out


def test_mcp_servers_that_the_agent_does_not_support_are_listed(accord: Accord) -> None:
    accord.config.write_text(
        "[mcp_servers.web]\nurl = 'https://example.com'\n[mcp_servers.lost]\ncommand = 'no-such-program'\n"
        "[mcp_servers.empty]\n"
    )
    details = steps(accord("doctor", "--json", agent()))["initialize"]["details"]
    assert isinstance(details, dict)
    assert details["note"] == [
        "MCP server 'web' is not passed on: the agent cannot reach servers over http",
        "MCP server 'lost' is not passed on: there is no program 'no-such-program'",
        "MCP server 'empty' is not passed on: it has neither a command nor a url",
    ]


def test_the_reason_why_a_prompt_failed_is_shown(accord: Accord) -> None:
    done = accord("doctor", agent(), "--prompt", 'break {"details": "400 credit too low"}')
    assert done.status == 1
    assert "FAIL prompt: session/prompt: Internal error: 400 credit too low (code -32603)" in done.out


def test_a_terminal_login_is_mentioned(accord: Accord, tmp_path: Path) -> None:
    key = tmp_path / "key"
    auth = steps(accord("doctor", "--json", agent("--key", str(key))))["auth"]
    assert "log in with: own: Own login (terminal); accord chat and accord run offer this" in str(auth["advice"])
    assert not key.exists()


def test_doctor_offers_the_same_protocol_versions_as_the_other_commands(accord: Accord) -> None:
    def ask(*flags: str) -> dict[str, object]:
        return steps(accord("doctor", "--json", *flags, agent("--fault", "only-2")))["initialize"]

    refused = ask()
    assert refused["ok"] is False and "try --v2" in str(refused["advice"])
    assert ask("--v2")["ok"] is True
