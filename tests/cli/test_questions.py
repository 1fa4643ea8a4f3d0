"""Permissions: by the flags of a run, by remembered rules, and by asking the user at a terminal."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path

import pytest
from support.cli_runner import Accord, Here, agent, without_codes


def test_without_a_terminal_a_permission_request_is_rejected_and_reported(accord: Accord) -> None:
    done = accord.run("write a.txt hello")
    assert done.out.startswith("refused: ") and "no one to ask" in done.out
    assert done.err.startswith("refused: ") and not (accord.project / "a.txt").exists()


def test_a_flag_allows_an_action(accord: Accord) -> None:
    rules = ["--allow", "write:*.txt", "--allow", "command:echo *", "--allow", "command:make *"]
    said = accord.turns("write a.txt hello", "terminal echo hello", "permission make test", flags=rules)
    assert said == ["written", "0: hello\n", "chosen: once"]
    assert (accord.project / "a.txt").read_text() == "hello"


def test_allow_all_still_respects_deny_and_ask_rules(accord: Accord) -> None:
    prompts = [
        "terminal echo $((1+1)) && echo 3",
        "write .env KEY=1",
        "write accord.toml [agents]",
        "write b.txt hello",
    ]
    _, denied, asked, written = accord.turns(*prompts, flags=["--allow", "all", "--deny", "write:**/.env"], status=6)
    assert "denied by a command-line option: deny write:**/.env" in denied
    assert asked.startswith("refused: ") and "accord.toml always needs approval" in asked
    assert written == "written"
    assert sorted(path.name for path in accord.project.iterdir()) == ["b.txt"]
    assert accord.turns(prompts[0], flags=["--allow", "all"]) == ["0: 2\n3\n"]


@pytest.mark.parametrize(
    "prompt, rule",
    [("permission make test", "command:make test"), ("write notes/a.txt hello", "write:notes/a.txt")],
)
def test_an_unanswered_permission_request_sets_the_exit_status_and_suggests_a_rule(
    accord: Accord, prompt: str, rule: str
) -> None:
    done = accord.run(prompt)
    assert done.status == 6
    assert done.err.endswith(f"\nTo allow it: --allow {shlex.quote(rule)}\n")
    (decided,) = accord.run("--json", prompt).events("permission")
    assert (decided["decision"], decided["allow"]) == ("refused", [rule])
    assert accord.run("--allow", rule, prompt).status == 0


@pytest.mark.parametrize("flags", [["--deny", "command:make *"], ["--ask", "command:make *"], []])
def test_no_rule_is_suggested_that_would_not_help(accord: Accord, flags: list[str]) -> None:
    prompt = "permission make test" if flags else "write .git/config x"
    done = accord.run(*flags, prompt)
    assert done.status == (0 if "--deny" in flags else 6)
    assert "To allow it" not in done.err


def test_a_turn_without_output_is_reported(accord: Accord) -> None:
    done = accord.run("say")
    assert (done.status, done.out, done.err) == (0, "", "The agent ended its turn without any output.\n")
    (ended,) = accord.run("--json", "say").events("ended")
    assert ended["silent"] is True
    assert "silent" not in accord.run("--json", "zed hello").events("ended")[0]


def test_reading_the_project_needs_permission_only_if_a_rule_requires_it(accord: Accord) -> None:
    for name in "a.txt", "b.md":
        (accord.project / name).write_text("hello\n")
    said = accord.turns(
        "read a.txt", "read b.md", "read ../config/config.toml", flags=["--deny", "read:*.md"], status=6
    )
    assert said[0] == "hello\n"
    assert "denied by a command-line option" in said[1]
    assert said[2].startswith("refused: ")


@pytest.mark.parametrize(
    "flag, rule, words",
    [
        ("--allow", "foo", "--allow: at character 1 of the rule 'foo': found 'foo'; expected KEY:VALUE"),
        ("--allow", "kind:edit", "--allow: the kind of a tool call is what the agent says about itself"),
        ("--deny", "path:", "--deny: in the rule 'path:': nothing follows 'path:'"),
        ("--ask", "", "--ask: the rule '' is empty"),
    ],
)
def test_an_invalid_rule_is_wrong_usage(here: Here, flag: str, rule: str, words: str) -> None:
    done = here("run", "--agent", agent(), flag, rule, "hello")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"accord run: {words}")


def test_configured_rules_apply_and_an_invalid_one_is_reported_with_its_file(accord: Accord) -> None:
    accord.config.write_text("[permissions]\nallow = ['command:echo *']\n")
    assert accord.run("terminal echo hello").out == "0: hello\n"
    accord.config.write_text("[permissions]\nallow = ['command:echo *', 'echo']\n")
    done = accord.run("hello")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith(f"accord: {accord.config}: line 2: permissions.allow[1]: at character 1 ")


def test_the_user_chooses_from_numbered_options(accord: Accord) -> None:
    screen = accord.on_terminal("run", "--agent", agent(), "permission make test")
    asked = without_codes(screen.answer("Your choice: ", "5"))
    assert "Permission: Run make test\n  command:\n    make test\n  why you are asked: no rule covers this" in asked
    assert "1. Allow once  (y)\n" in asked and "2. Always allow  (remembered: command:make test)\n" in asked
    assert "Type a number from 1 to 4" in screen.answer("Your choice: ", "rej")
    screen.until("chosen: no")
    assert screen.end() == 0
    screen.close()


def test_the_end_of_input_approves_nothing(accord: Accord) -> None:
    screen = accord.on_terminal("run", "--agent", agent(), "permission make test")
    screen.until("Your choice: ")
    screen.press("d")
    screen.until("chosen: no")
    assert screen.end() == 0
    screen.close()


def test_always_allow_is_remembered_and_not_asked_again(accord: Accord) -> None:
    screen = accord.on_terminal("run", "--agent", agent(), "permission make test")
    screen.answer("Your choice: ", "always")
    screen.until("chosen: always")
    assert screen.end() == 0
    screen.close()
    with (accord.data / "permissions.toml").open("rb") as file:
        (rule,) = tomllib.load(file)["rule"]
    assert (rule["effect"], rule["command"], rule["project"]) == ("allow", "make test", str(accord.project))
    said = accord.turns("permission make test", "permission make clean", status=6)
    assert said == ["chosen: once", "chosen: no"]
    decisions = [json.loads(line) for line in (accord.data / "decisions.jsonl").read_text().splitlines()]
    assert [(each["effect"], each["by"]) for each in decisions] == [
        ("allow", "person"),
        ("allow", "rule"),
        ("deny", "nobody"),
    ]


def test_the_user_is_asked_even_if_the_agent_does_not_ask(accord: Accord) -> None:
    screen = accord.on_terminal("run", "--agent", agent(), "write notes/a.txt hello")
    asked = screen.answer("Your choice: ", "y")
    assert f"The agent wants to write {accord.project}/notes/a.txt\n" in asked
    screen.until("written")
    assert screen.end() == 0
    screen.close()
    screen = accord.on_terminal("run", "--agent", agent(), "terminal touch made; touch too")
    asked = screen.answer("Your choice: ", "n")
    assert "The agent wants to run:\n  touch made; touch too\n" in asked
    screen.until("refused: touch made; touch too")
    assert screen.end() == 0
    assert not (accord.project / "made").exists()
    screen.close()


def test_a_form_is_filled_in_at_the_terminal(accord: Accord) -> None:
    screen = accord.on_terminal("run", "--quiet", "--agent", agent(), "form", piped=True)
    for question, answer in (
        ("Tester asks: Who are you?", None),
        ("Your name: ", "A"),
        ("It must have at least 2 characters.\n  Your name: ", "Ada"),
        ("mail (optional): ", "nobody"),
        ("Please type an e-mail address.\n  mail", "ada@example.org"),
        ("age [30]: ", ""),
        ("share (optional): ", "2"),
        ("It must be at most 1.\n  share", "0.25"),
        ("news [yes]: ", "no"),
        ("1. Red\n    2. Blue\n  color: ", "2"),
        ("days (optional): ", "1,3"),
        ("note (optional): ", ""),
        ("Send this? 1. yes  2. no: ", "1"),
    ):
        screen.until(question) if answer is None else screen.answer(question, answer)
    assert screen.end() == 0
    content = {"name": "Ada", "mail": "ada@example.org", "age": 30, "share": 0.25, "news": False, "color": "b"}
    assert json.loads(screen.out) == {"action": "accept", "content": {**content, "days": ["mon", "wed"]}}
    screen.close()


def test_without_a_terminal_no_forms_are_offered(accord: Accord) -> None:
    assert "this client takes none" in json.loads(accord.run("form").out)


def test_questions_use_the_terminal_when_the_prompt_is_piped(accord: Accord) -> None:
    screen = accord.on_terminal("run", "--agent", agent(), stdin="permission make test", piped=True)
    screen.answer("Your choice: ", "1")
    assert screen.end() == 0
    assert screen.out == "chosen: once\n"
    screen.close()


def test_a_login_is_offered_at_the_terminal_and_the_request_is_retried(accord: Accord) -> None:
    screen = accord.on_terminal("run", "--agent", agent("--offer", "login"), "hello")
    assert "1. Log in with a browser\n  2. Don't log in" in screen.answer("Your choice: ", "1")
    screen.until("You said: hello")
    assert screen.end() == 0
    screen.close()
    refused = accord.run("hello", offer="login")
    assert (refused.status, refused.err) == (
        1,
        "accord: Authentication required; "
        "log in first, with 'Log in with a browser': run this command once in a terminal\n",
    )
    (error,) = accord.run("--json", "hello", offer="login").events("error")
    assert error["code"] == -32000 and "log in first" in error["message"]


def test_a_login_command_of_the_agent_runs_in_the_terminal(accord: Accord, tmp_path: Path) -> None:
    key = tmp_path / "key"
    screen = accord.on_terminal("run", "--agent", agent("--key", str(key)), "hello")
    asked = screen.answer("Your choice: ", "1")
    assert "1. Own login\n     runs: " in asked and str(key) in asked
    screen.until("You said: hello")
    assert screen.end() == 0 and key.exists()
    screen.close()


def test_without_a_terminal_the_login_command_is_shown(accord: Accord, tmp_path: Path) -> None:
    refused = accord("run", "--agent", agent("--key", str(tmp_path / "key")), "hello")
    assert refused.status == 1
    assert refused.err.endswith("; log in first, with 'Own login': run this command once in a terminal\n")


def test_an_agent_without_login_methods_is_not_restarted(accord: Accord) -> None:
    refused = accord.run("log_in")
    assert refused.err == ("accord: Authentication required; log in with the agent's own program first\n")


def test_progress_is_shown_on_a_terminal_unless_quiet(accord: Accord) -> None:
    screen = accord.on_terminal("run", "--agent", agent(), "work")
    assert screen.end() == 0
    for words in (
        "Tester, session s-1\n",
        "Plan: 1 of 3 done, now: write\n",
        "▸ Change the notes\n",
        "✓ Change the notes\n",
        "finished",
    ):
        assert words in without_codes(screen.seen)
    screen.close()
    quiet = accord.on_terminal("run", "--quiet", "--agent", agent(), "work")
    assert quiet.end() == 0
    assert without_codes(quiet.seen) == "(the agent sent image; use --json to get it)\n\nfinished\n"
    quiet.close()


def test_control_sequences_of_an_agent_are_sanitized(accord: Accord) -> None:
    screen = accord.on_terminal("run", "--agent", agent(), "control")
    assert screen.end() == 0
    assert "▸ safe\\x1b[2K\\rreally\\u202egpj.exe\n" in without_codes(screen.seen)
    assert "red \\x1b[31mtext" in screen.seen and "\x1b[31m" not in screen.seen
    screen.close()
    assert accord.run("control").out == "red \x1b[31mtext\x1b[0m\n", "a pipe gets what was said"


def _calls(*calls: tuple[str, dict[str, object]]) -> str:
    return f"calls {json.dumps(calls)}"


def _asks(kind: str, title: str, **more: object) -> tuple[str, dict[str, object]]:
    """A permission request."""
    options = [
        {"optionId": "once", "name": "Allow once", "kind": "allow_once"},
        {"optionId": "no", "name": "Reject", "kind": "reject_once"},
    ]
    call = {"toolCallId": "c", "title": title, "kind": kind, **more}
    return "session/request_permission", {"toolCall": call, "options": options}


def test_allowing_a_command_does_not_allow_a_hook_mentioned_with_it(accord: Accord) -> None:
    hook = "{cwd}/.git/hooks/pre-commit"
    asked = _asks("execute", "Run the tests", rawInput={"command": "make test"}, locations=[{"path": hook}])
    write = ("fs/write_text_file", {"path": hook, "content": "#!/bin/sh\nowned\n"})
    screen = accord.on_terminal("run", "--agent", agent(), _calls(asked, write))
    first = without_codes(screen.answer("Your choice: ", "y"))
    assert "    make test\n" in first and "why you are asked: .git always needs approval" in first
    second = without_codes(screen.answer("Your choice: ", "n"))
    assert f"The agent wants to write {accord.project}/.git/hooks/pre-commit" in second
    assert "why you are asked: .git always needs approval" in second
    screen.until("fs/write_text_file: refused")
    assert screen.end() == 0
    assert not (accord.project / ".git").exists()
    screen.close()


def test_the_agents_own_variables_do_not_cause_another_permission_request(accord: Accord) -> None:
    asked = _asks("other", "shell", rawInput={"command": "printf 'in-%s' 42"})
    variable = {"name": "AGENT_SESSION_ID", "value": "20261116_6"}
    create = ("terminal/create", {"command": "printf 'in-%s' 42", "env": [variable]})
    screen = accord.on_terminal("run", "--agent", agent(), _calls(asked, create))
    assert "  command:\n    printf 'in-%s' 42\n" in without_codes(screen.answer("Your choice: ", "y"))
    said = screen.until('terminal/create: {"terminalId"')
    assert screen.end() == 0 and "Your choice" not in said
    screen.close()
    done = accord.run(_calls(asked, create), "--allow", "command:printf *")
    assert '"optionId": "once"' in done.out and '{"terminalId"' in done.out


def test_a_variable_that_changes_what_runs_is_shown(accord: Accord) -> None:
    create = ("terminal/create", {"command": "make test", "env": [{"name": "PATH", "value": "/evil"}]})
    done = accord.run(_calls(create), "--allow", "command:make *")
    assert "no rule covers this (make test, sets PATH)" in done.err


def test_a_long_permission_request_is_shown_page_by_page(accord: Accord) -> None:
    line = "\n".join([*(f"echo {number}" for number in range(130)), "rm -rf HIDDEN"])
    screen = accord.on_terminal("run", "--agent", agent(), _calls(("terminal/create", {"command": line})))
    first = without_codes(screen.answer("Enter: show, n: reject: ", ""))
    second = without_codes(screen.answer("Enter: show, n: reject: ", ""))
    third = without_codes(screen.answer("Your choice: ", "n"))
    shown = [row.strip() for row in (first + second + third).splitlines()]
    assert [row for row in shown if row.startswith(("echo", "rm"))] == line.splitlines()
    assert "74 more lines" in first and "14 more lines" in second and "rm -rf HIDDEN" in third
    screen.until("terminal/create: refused")
    assert screen.end() == 0
    screen.close()


def test_the_user_can_reject_without_seeing_the_rest(accord: Accord) -> None:
    text = "\n".join(f"line {number}" for number in range(200))
    write = ("fs/write_text_file", {"path": "{cwd}/a.txt", "content": text})
    screen = accord.on_terminal("run", "--agent", agent(), _calls(write))
    shown = without_codes(screen.answer("Enter: show, n: reject: ", "n"))
    assert "+line 0\n" in shown and "Your choice" not in shown
    screen.until("fs/write_text_file: refused")
    assert screen.end() == 0
    assert not (accord.project / "a.txt").exists()
    screen.close()


def test_a_write_shows_its_changes(accord: Accord) -> None:
    (accord.project / "notes.txt").write_text("one\ntwo\nthree\n")
    write = ("fs/write_text_file", {"path": "{cwd}/notes.txt", "content": "one\n2\nthree\n"})
    screen = accord.on_terminal("run", "--agent", agent(), _calls(write))
    shown = without_codes(screen.answer("Your choice: ", "y"))
    assert "  @@ -1,3 +1,3 @@\n   one\n  -two\n  +2\n   three\n" in shown
    screen.until("fs/write_text_file: {}")
    assert screen.end() == 0
    screen.close()


def test_a_write_says_if_it_replaces_content_that_cannot_be_shown(accord: Accord) -> None:
    (accord.project / "logo.png").write_bytes(b"\xff\xfe")
    write = ("fs/write_text_file", {"path": "{cwd}/logo.png", "content": "text\n"})
    screen = accord.on_terminal("run", "--agent", agent(), _calls(write))
    shown = without_codes(screen.answer("Your choice: ", "n"))
    assert "logo.png\n  replaces the whole file; its current content can't be shown\n" in shown and "+text\n" in shown
    screen.until("fs/write_text_file: refused")
    assert screen.end() == 0
    screen.close()


def test_a_change_is_shown_with_its_line_numbers_if_they_are_known(accord: Accord) -> None:
    (accord.project / "notes.txt").write_text("".join(f"line {number}\n" for number in range(1, 21)))
    diff = {"type": "diff", "path": "{cwd}/notes.txt", "oldText": "line 15", "newText": "LINE 15"}
    lost = {**diff, "oldText": "not there"}
    asked = [_asks("edit", "Edit notes.txt", content=[each]) for each in (diff, lost)]
    screen = accord.on_terminal("run", "--agent", agent(), _calls(*asked))
    placed = without_codes(screen.answer("Your choice: ", "y"))
    assert "@@ -12,7 +12,7 @@" in placed and "  -line 15\n  +LINE 15\n" in placed
    unplaced = without_codes(screen.answer("Your choice: ", "n"))
    assert "  -not there" in unplaced and "@@" not in unplaced
    assert screen.end() == 0
    screen.close()


@pytest.mark.parametrize("old", [None, ""])
def test_an_existing_file_is_not_shown_as_new(accord: Accord, old: str | None) -> None:
    (accord.project / "notes.txt").write_text("one\ntwo\n")
    diff = {"type": "diff", "path": "{cwd}/notes.txt", "oldText": old, "newText": "one\n2\n"}
    new = {**diff, "path": "{cwd}/new.txt", "oldText": None}
    given = {"path": "{cwd}/notes.txt", "content": "one\n3\n"}
    asked = [_asks("edit", "Write", rawInput=given), *(_asks("edit", "Write", content=[each]) for each in (diff, new))]
    screen = accord.on_terminal("run", "--agent", agent(), _calls(*asked))
    shown = without_codes(screen.answer("Your choice: ", "y"))
    assert "  -two\n  +3\n" in shown and "new file" not in shown
    shown = without_codes(screen.answer("Your choice: ", "y"))
    assert "  -two\n  +2\n" in shown and "new file" not in shown
    assert "new file" in without_codes(screen.answer("Your choice: ", "y"))
    assert screen.end() == 0
    screen.close()


def test_the_text_of_a_tool_without_a_diff_is_shown(accord: Accord) -> None:
    given = {"path": "{cwd}/a.txt", "content": "what will be written\n"}
    screen = accord.on_terminal("run", "--agent", agent(), _calls(_asks("other", "write", rawInput=given)))
    shown = without_codes(screen.answer("Your choice: ", "n"))
    assert "  +what will be written\n" in shown
    assert screen.end() == 0
    screen.close()


def test_all_variables_of_a_command_and_the_complete_rule_are_shown(accord: Accord) -> None:
    env = [{"name": f"LD_{number}", "value": "x" * 100} for number in range(20)]
    line = f"printf {'y' * 500}"
    calls = _calls(
        ("terminal/create", {"command": line, "env": env}), _asks("execute", "x", rawInput={"command": line})
    )
    screen = accord.on_terminal("run", "--agent", agent(), calls)
    shown = without_codes(screen.answer("Your choice: ", "n")).replace("\n", "")
    assert all(f"with LD_{number}={'x' * 100}" in shown for number in range(20))
    assert line in without_codes(screen.answer("Your choice: ", "n")).replace("\n", "")
    assert screen.end() == 0
    screen.close()
