"""Permissions: by the options of a run, by remembered choices, and by asking a person at a terminal."""

from __future__ import annotations

import json
import tomllib

import pytest
from commands import Accord, Here, agent, without_codes


def test_what_nobody_can_be_asked_about_is_refused_and_said(accord: Accord) -> None:
    done = accord.run("write a.txt hello")
    assert done.out.startswith("refused: ") and "nobody could be asked" in done.out
    assert done.err.startswith("refused: ") and not (accord.project / "a.txt").exists()


def test_what_an_option_allows_is_done(accord: Accord) -> None:
    rules = ["--allow", "write:*.txt", "--allow", "command:echo *", "--allow", "command:make *"]
    said = accord.turns("write a.txt hello", "terminal echo hello", "permission make test", flags=rules)
    assert said == ["written", "0: hello\n", "chosen: once"]
    assert (accord.project / "a.txt").read_text() == "hello"


def test_allowing_all_allows_all_but_what_is_denied_or_always_asked(accord: Accord) -> None:
    prompts = [
        "terminal echo $((1+1)) && echo 3",
        "write .env KEY=1",
        "write accord.toml [agents]",
        "write b.txt hello",
    ]
    _, denied, asked, written = accord.turns(*prompts, flags=["--allow", "all", "--deny", "write:**/.env"])
    assert "denied by an option of this run: deny write:**/.env" in denied
    assert asked.startswith("refused: ") and "accord.toml is always asked about" in asked
    assert written == "written"
    assert sorted(path.name for path in accord.project.iterdir()) == ["b.txt"]
    assert accord.turns(prompts[0], flags=["--allow", "all"]) == ["0: 2\n3\n"]


def test_reading_the_project_needs_no_permission_unless_a_rule_says_so(accord: Accord) -> None:
    for name in "a.txt", "b.md":
        (accord.project / name).write_text("hello\n")
    said = accord.turns("read a.txt", "read b.md", "read ../config/config.toml", flags=["--deny", "read:*.md"])
    assert said[0] == "hello\n"
    assert "denied by an option of this run" in said[1]
    assert said[2].startswith("refused: ")


@pytest.mark.parametrize(
    "flag, rule, words",
    [
        ("--allow", "foo", "--allow: at character 1 of the rule 'foo': found 'foo'; expected KEY:VALUE"),
        ("--allow", "kind:edit", "--allow: the kind of a tool call is what the agent says of itself"),
        ("--deny", "path:", "--deny: in the rule 'path:': nothing follows 'path:'"),
        ("--ask", "", "--ask: the rule '' is empty"),
    ],
)
def test_a_rule_that_cannot_be_read_is_wrong_usage(here: Here, flag: str, rule: str, words: str) -> None:
    done = here("run", "--agent", agent(), flag, rule, "hello")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"accord run: {words}")


def test_rules_of_the_configuration_count_and_a_bad_one_is_named_with_its_file(accord: Accord) -> None:
    accord.config.write_text("[permissions]\nallow = ['command:echo *']\n")
    assert accord.run("terminal echo hello").out == "0: hello\n"
    accord.config.write_text("[permissions]\nallow = ['command:echo *', 'echo']\n")
    done = accord.run("hello")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith(f"accord: {accord.config}: line 2: permissions.allow[1]: at character 1 ")


def test_a_person_is_asked_with_numbered_options(accord: Accord) -> None:
    screen = accord.on_terminal("run", "--agent", agent(), "permission make test")
    asked = without_codes(screen.answer("Your choice: ", "5"))
    assert "Permission: Run make test\n  command:\n    make test\n  asked because no rule speaks of it" in asked
    assert "1. Allow once\n" in asked and "2. Always allow  (remembered: command:make test)\n" in asked
    assert "Please type a number from 1 to 4" in screen.answer("Your choice: ", "rej")
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


def test_what_is_always_allowed_is_remembered_and_not_asked_again(accord: Accord) -> None:
    screen = accord.on_terminal("run", "--agent", agent(), "permission make test")
    screen.answer("Your choice: ", "always")
    screen.until("chosen: always")
    assert screen.end() == 0
    screen.close()
    with (accord.data / "permissions.toml").open("rb") as file:
        (rule,) = tomllib.load(file)["rule"]
    assert (rule["effect"], rule["command"], rule["project"]) == ("allow", "make test", str(accord.project))
    assert accord.turns("permission make test", "permission make clean") == ["chosen: once", "chosen: no"]
    decisions = [json.loads(line) for line in (accord.data / "decisions.jsonl").read_text().splitlines()]
    assert [(each["effect"], each["by"]) for each in decisions] == [
        ("allow", "person"),
        ("allow", "rule"),
        ("deny", "nobody"),
    ]


def test_what_an_agent_simply_does_is_asked_about_too(accord: Accord) -> None:
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
        ("mail (may be left empty): ", "nobody"),
        ("Please type an e-mail address.\n  mail", "ada@example.org"),
        ("age [30]: ", ""),
        ("share (may be left empty): ", "2"),
        ("It must be at most 1.\n  share", "0.25"),
        ("news [yes]: ", "no"),
        ("1. Red\n    2. Blue\n  colour: ", "2"),
        ("days (may be left empty): ", "1,3"),
        ("note (may be left empty): ", ""),
        ("Send this? 1. yes  2. no: ", "1"),
    ):
        screen.until(question) if answer is None else screen.answer(question, answer)
    assert screen.end() == 0
    content = {"name": "Ada", "mail": "ada@example.org", "age": 30, "share": 0.25, "news": False, "colour": "b"}
    assert json.loads(screen.out) == {"action": "accept", "content": {**content, "days": ["mon", "wed"]}}
    screen.close()


def test_without_a_terminal_no_forms_are_offered(accord: Accord) -> None:
    assert "this client takes none" in json.loads(accord.run("form").out)


def test_a_pipe_for_the_prompt_leaves_the_terminal_for_questions(accord: Accord) -> None:
    screen = accord.on_terminal("run", "--agent", agent(), stdin="permission make test", piped=True)
    screen.answer("Your choice: ", "1")
    assert screen.end() == 0
    assert screen.out == "chosen: once\n"
    screen.close()


def test_a_login_is_offered_at_a_terminal_and_the_call_made_again(accord: Accord) -> None:
    screen = accord.on_terminal("run", "--agent", agent("--offer", "login"), "hello")
    assert "1. Log in with a browser\n  2. Do not log in" in screen.answer("Your choice: ", "1")
    screen.until("You said: hello")
    assert screen.end() == 0
    screen.close()
    refused = accord.run("hello", offer="login")
    assert (refused.status, refused.err) == (
        1,
        "accord: session/new: Authentication required (code -32000); "
        "log in first, with 'Log in with a browser': run this once on a terminal\n",
    )
    (error,) = accord.run("--json", "hello", offer="login").events("error")
    assert error["code"] == -32000 and "log in first" in error["message"]


def test_progress_is_shown_when_a_person_is_looking_and_not_when_quiet(accord: Accord) -> None:
    screen = accord.on_terminal("run", "--agent", agent(), "work")
    assert screen.end() == 0
    for words in (
        "Tester, session s-1\n",
        "plan: 1 of 3 done, now: write\n",
        "… Change the notes\n",
        "✓ Change the notes\n",
        "finished",
    ):
        assert words in screen.seen
    screen.close()
    quiet = accord.on_terminal("run", "--quiet", "--agent", agent(), "work")
    assert quiet.end() == 0
    assert quiet.seen == "(the agent shows image; --json has it)\nfinished\n"
    quiet.close()


def test_an_agent_cannot_play_tricks_on_the_terminal(accord: Accord) -> None:
    screen = accord.on_terminal("run", "--agent", agent(), "control")
    assert screen.end() == 0
    assert "▸ safe\\x1b[2K\\rreally\\u202egpj.exe\n" in screen.seen
    assert "red \\x1b[31mtext" in screen.seen and "\x1b[31m" not in screen.seen
    screen.close()
    assert accord.run("control").out == "red \x1b[31mtext\x1b[0m\n", "a pipe gets what was said"
