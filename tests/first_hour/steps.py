"""The steps of a first hour, in the order in which a new user takes them, each with the screen to expect.

`test_first_hour.py` runs them as tests, and `screenshots.py` saves a picture of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from coder.providers.script import Calls, Says
from first_hour.terminal import FakeModel, NewUser

ANSWER = "# Greeter\n\nThis project **greets** people:\n\n- `greet` takes a name\n- it returns a greeting\n"


BROKEN_AGENT = """from accord import Agent, Turn, run


class Broken(Agent):
    async def prompt(self, turn: Turn) -> None:
        await turn.say({}["username"])


run(Broken())
"""


class Step(NamedTuple):
    """One step: what the user tries, and a function that does it and checks the screen."""

    name: str
    run: Callable[[NewUser, FakeModel], None]
    has_key: bool = False
    """Whether the user has a key for a model."""


def help_has_examples(user: NewUser, model: FakeModel) -> None:
    screen = user.run("accord run --help | sed -n '/Examples:/,/Options:/p'")
    assert "Examples:" in screen and "Exit status:" in screen


def doctor_names_the_model(user: NewUser, model: FakeModel) -> None:
    screen = user.run("accord doctor")
    assert "warn model: the offline model" in screen and "accord login" in screen


def agents_are_known_by_name(user: NewUser, model: FakeModel) -> None:
    screen = user.run("accord agents")
    assert "claude " in screen and "gemini " in screen and "not installed" in screen


def editors_end_with_a_next_step(user: NewUser, model: FakeModel) -> None:
    assert "Next: accord editors" in user.run("accord editors")


def completion_is_a_script(user: NewUser, model: FakeModel) -> None:
    assert "_ACCORD_COMPLETE" in user.run("accord completion bash | grep COMPLETE")


def agent_explains_itself(user: NewUser, model: FakeModel) -> None:
    user.send("accord agent")
    user.until("is an ACP agent")
    user.keys("C-c")


def project_question_works_without_a_model(user: NewUser, model: FakeModel) -> None:
    assert "Greets people by name" in user.run("accord run 'what is this project?'")


def misunderstanding_has_a_status(user: NewUser, model: FakeModel) -> None:
    user.run("accord run 'frobnicate the quux'", status=7)


def refusal_names_the_option(user: NewUser, model: FakeModel) -> None:
    """Without a terminal to ask on: input, output and errors are redirected."""
    command = """accord run 'append "x" to README.md' </dev/null >out 2>&1"""
    screen = user.run(f"{command}; status=$?; cat out; (exit $status)", status=6)
    assert "To allow it: --allow write:README.md" in screen


def permission_takes_one_key(user: NewUser, model: FakeModel) -> None:
    user.send("""clear; accord run 'append "x" to README.md'; echo exit=$?""")
    screen = user.until("Your choice:")
    assert "1. Allow once  (y)" in screen and "+x" in screen
    user.type("y")
    user.until("exit=0")
    assert "x" in (user.project / "README.md").read_text().splitlines()


def model_without_a_key_is_explained(user: NewUser, model: FakeModel) -> None:
    screen = user.run("accord run --model anthropic:claude-sonnet-5 hi", status=1).replace("\n", "")  # wrapped
    assert "Anthropic needs a key: set ANTHROPIC_API_KEY" in screen and "-32" not in screen


def unknown_session_is_explained(user: NewUser, model: FakeModel) -> None:
    screen = user.run("accord run --session nope hi", status=1)
    assert "accord: there is no session 'nope'" in screen and "session/" not in screen


def timeout_says_who(user: NewUser, model: FakeModel) -> None:
    screen = user.run("accord run --timeout 0.2 --agent 'sleep 100' hi", status=124)
    assert "timed out after 0.2 s waiting for sleep to start" in screen


def session_has_a_name(user: NewUser, model: FakeModel) -> None:
    user.run("accord run --name api hello")
    user.run("accord run -s api help | tail -3; accord sessions list | wc -l | tr -d ' ' | sed 's/^/sessions: /'")
    user.until("sessions: 1")


def answer_is_rendered(user: NewUser, model: FakeModel) -> None:
    model.says(Calls("read_file", {"path": "README.md"}))
    model.says(Says(ANSWER))
    screen = user.run("accord run 'what is this?'")
    assert "✓ Read README.md" in screen and "• greet takes a name" in screen and "**" not in screen


def rejected_key_is_explained(user: NewUser, model: FakeModel) -> None:
    model.refuses(401, "invalid x-api-key", "authentication_error")
    screen = user.run("accord run hi </dev/null 2>err || (cat err; exit 1)", status=1)
    assert "ANTHROPIC_API_KEY" in screen and "-32" not in screen and "log in first" not in screen


def status_lists_what_waits(user: NewUser, model: FakeModel) -> None:
    model.says(Calls("run_command", {"command": "make release"}))
    user.send("clear; accord run 'release it'")
    user.until("Your choice:")
    user.split("accord status")
    command = "accordchatbuilt-in--session"  # the path before it decides where the terminal wraps it
    user.until_true(lambda screen: command in "".join(screen.split()), "how to open the session")
    user.until_all("waiting", "make release")


def budget_stops_a_run(user: NewUser, model: FakeModel) -> None:
    (user.folder / "config").mkdir(exist_ok=True)
    (user.folder / "config" / "config.toml").write_text('budget = "$0.00001/day"\n')
    model.says(Says("Hello."))
    user.run("accord run hi")
    assert "the budget of $0.00001 per day is reached" in user.run("accord run hi", status=8)


def client_answers_the_first_prompt(user: NewUser, model: FakeModel) -> None:
    model.says(Says(ANSWER))
    user.send("accord 'what is this?'")
    user.until("greet takes a name")
    user.until("ready")


def unknown_command_is_not_sent(user: NewUser, model: FakeModel) -> None:
    user.send("accord")
    user.until("ready")
    user.send("/frobnicate")
    user.until("frobnicate")
    user.until("(?i)no such command|unknown command|no command")


def slash_lists_commands(user: NewUser, model: FakeModel) -> None:
    user.send("accord")
    user.until("ready")
    user.type("/mo")
    user.until("/model")
    user.until("Choose the model")


def client_lists_all_sessions(user: NewUser, model: FakeModel) -> None:
    user.send("accord")
    user.until("ready")
    user.send("/status")
    user.until("All sessions")
    user.until("Open\\b")


def key_is_checked_and_saved(user: NewUser, model: FakeModel) -> None:
    """On a machine without a keyring, the key is saved in a file that only the user can read."""
    user.send("clear; unset ANTHROPIC_API_KEY; accord login anthropic; echo exit=$?")
    user.until("(?i)key.*:")
    user.send("sk-ant-new-key")
    screen = user.until("exit=0")
    assert "sk-ant-new-key" not in screen and "readable by you only" in screen.replace("\n", "")
    assert "-rw-------" in user.run("ls -l ~/data/keys/providers.json")


def rejected_key_is_explained_in_the_client(user: NewUser, model: FakeModel) -> None:
    model.refuses(401, "invalid x-api-key", "authentication_error")
    user.send("accord 'say hi'")
    user.until("Anthropic rejected")
    user.until("(?i)another key")


def error_of_an_agent_is_shown(user: NewUser, model: FakeModel) -> None:
    (user.project / "agent.py").write_text(BROKEN_AGENT)
    assert "KeyError: 'username'" in user.run("accord run --agent 'python agent.py' hi", status=1)


def tests_are_found(user: NewUser, model: FakeModel) -> None:
    (user.project / "test_foo.py").write_text("def test_it() -> None:\n    assert True\n")
    assert "1 passed" in user.run("accord run --yes 'run the tests'")


def welcome_says_where_and_what(user: NewUser, model: FakeModel) -> None:
    user.send("accord")
    for text in ("ready", r"Accord 0\.", "~/project", "Offline demo", "/login", "/agent", r"ctrl\+p"):
        user.until(text)


def shell_command_shows_its_output(user: NewUser, model: FakeModel) -> None:
    user.send("accord")
    user.until("ready")
    user.send("!echo $((6*7)) files")
    user.until("42 files")


def command_of_the_agent_shows_its_last_lines(user: NewUser, model: FakeModel) -> None:
    model.says(Calls("run_command", {"command": "seq 40 | sed s/^/line-/"}))
    model.says(Says("Done."))
    user.send("accord chat --allow all --prompt count")
    user.until("Done\\.")
    assert "line-1\n" not in user.until("line-40")


def rejection_takes_instructions(user: NewUser, model: FakeModel) -> None:
    model.says(Calls("run_command", {"command": "make release"}))
    model.says(Says("I won't release it."))
    user.send("accord 'release it'")
    user.until("Reject and say what to do instead")
    user.until("number or")  # keys that the user was still typing don't answer
    user.type("i")
    user.until("enter rejects and sends")
    user.send("only build it")
    user.until("I won't release it")
    user.until("only build it")


def panel_survives_resizing(user: NewUser, model: FakeModel) -> None:
    model.says(Calls("set_plan", {"steps": [{"content": "Look around", "status": "in_progress"}]}))
    model.says(Says("Looking."))
    user.resize(140, 40)
    user.send("accord 'look around'")
    user.until("Plan 0/1")
    user.resize(80, 24)
    user.until("ready")
    user.resize(140, 40)
    user.until("Plan 0/1")


def large_paste_is_folded(user: NewUser, model: FakeModel) -> None:
    user.send("accord")
    user.until("ready")
    user.paste("".join(f"row {number}\n" for number in range(60)))
    user.until("60 lines")
    assert "row 40" not in user.screen


def leaving_says_how_to_continue(user: NewUser, model: FakeModel) -> None:
    user.send("accord 'hello there'")
    user.until("demo without a language model")
    user.until("ready")
    user.send("/quit")
    user.until("accord -c|accord --continue")
    user.send("accord -c")
    user.until("demo without a language model")


STEPS = (
    Step("help has examples", help_has_examples),
    Step("doctor names the model", doctor_names_the_model),
    Step("agents are known by name", agents_are_known_by_name),
    Step("editors end with a next step", editors_end_with_a_next_step),
    Step("completion is a script", completion_is_a_script),
    Step("agent explains itself on a terminal", agent_explains_itself),
    Step("a question about the project works without a model", project_question_works_without_a_model),
    Step("a misunderstanding has its own status", misunderstanding_has_a_status),
    Step("a refusal names the option that allows it", refusal_names_the_option),
    Step("a permission takes one key", permission_takes_one_key),
    Step("a model without a key is explained", model_without_a_key_is_explained),
    Step("an unknown session is explained", unknown_session_is_explained),
    Step("a timeout says who was waited for", timeout_says_who),
    Step("a session has a name", session_has_a_name),
    Step("an error of an agent is shown whole", error_of_an_agent_is_shown),
    Step("the tests of a project are found", tests_are_found),
    Step("a key is checked and saved without a keyring", key_is_checked_and_saved, has_key=True),
    Step("an answer is rendered", answer_is_rendered, has_key=True),
    Step("a rejected key is explained", rejected_key_is_explained, has_key=True),
    Step("status lists what waits", status_lists_what_waits, has_key=True),
    Step("a budget stops a run", budget_stops_a_run, has_key=True),
    Step("the client answers the first prompt", client_answers_the_first_prompt, has_key=True),
    Step("the welcome says where and what", welcome_says_where_and_what),
    Step("a rejected key is explained in the client", rejected_key_is_explained_in_the_client, has_key=True),
    Step("a command shows its last lines", command_of_the_agent_shows_its_last_lines, has_key=True),
    Step("a rejection takes instructions", rejection_takes_instructions, has_key=True),
    Step("the panel survives resizing", panel_survives_resizing, has_key=True),
    Step("a shell command shows its output", shell_command_shows_its_output),
    Step("a large paste is folded", large_paste_is_folded),
    Step("leaving says how to continue", leaving_says_how_to_continue),
    Step("an unknown command is not sent", unknown_command_is_not_sent),
    Step("slash lists commands", slash_lists_commands),
    Step("the client lists all sessions", client_lists_all_sessions),
)
