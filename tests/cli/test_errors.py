"""Error messages of the command line: where, what, and what to do; never a traceback or a secret."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from support.cli_runner import Accord, Done, Here, agent, with_time

SECRET = "abcdef-0123456789"


def test_help_lists_the_commands(accord: Accord, here: Here) -> None:
    done = accord("--help")
    assert done.status == 0 and done.out.startswith("Usage: accord [OPTIONS] [COMMAND]")
    for name in ("agents", "doctor", "run", "trust"):
        assert f"\n  {name} " in done.out
    assert here("agents", "--help").out.startswith("Usage: accord agents")
    assert here("--version").out.startswith("accord, version ")


@pytest.mark.parametrize(
    "words, said",
    [
        (["rum"], "accord: no such command 'rum'; did you mean run?\nsee: accord --help\n"),
        (["claude"], "accord: no such command 'claude'; to chat with this agent: accord chat claude\n"),
        (["help"], "accord: no such command 'help'; did you mean accord --help?\n"),
        (["completion"], "accord completion: missing argument '{bash|zsh|fish}'. Choose from: bash, zsh, fish\n"),
        (["run", "--alow", "x"], "accord run: no such option '--alow'. Did you mean '--allow'?"),
        (["run", "--timeout", "0", "x"], "accord run: invalid value for '--timeout'"),
    ],
)
def test_wrong_usage_is_reported_in_two_lines(here: Here, words: list[str], said: str) -> None:
    done = here(*words)
    assert done.status == 2 and done.out == ""
    assert done.err.startswith(said)
    assert len(done.err.splitlines()) == 2


def test_a_group_without_a_command_prints_its_help(here: Here) -> None:
    done = here("new")
    assert done.status == 2 and done.out == ""
    assert done.err.startswith("Usage: accord new [OPTIONS] COMMAND") and "see: accord" not in done.err


def test_a_login_without_a_provider_needs_someone_to_choose_one(accord: Accord) -> None:
    done = accord("login")
    assert done.status == 1
    assert "accord: nothing to read the answer from; name the provider: accord login anthropic\n" in done.err


def test_an_unknown_agent_is_reported_with_similar_names(accord: Accord, here: Here) -> None:
    accord.config.write_text("[agents.scribe]\ncommand = 'scribe'\n[agents.other]\ncommand = 'other'\n")
    done = accord("run", "--agent", "scrib", "hello")
    assert (done.status, done.err) == (
        1,
        "accord: no agent or program named 'scrib': did you mean scribe?\n",
    )
    done = here("run", "hello")
    assert "make one the default (configured: scribe, other)" in done.err


@pytest.mark.parametrize("command", [["run", "hello"], ["agents", "list"], ["agents", "add", "a", "--", "b"]])
def test_an_invalid_configuration_is_reported_with_file_and_line(
    accord: Accord, here: Here, command: list[str]
) -> None:
    text = "[agents.a]\ncommand = 'a'\n\n[agents.b]\ncommand = 5\n"
    accord.config.write_text(text)
    done = here(*command)
    assert (done.status, done.out) == (1, "")
    assert done.err == (
        f"accord: {accord.config}: line 5: agents.b.command: found an integer; expected a string or a list\n"
    )
    assert accord.config.read_text() == text


def test_an_unreadable_configuration_is_an_error_and_not_ignored(accord: Accord, here: Here) -> None:
    accord.config.mkdir()
    done = here("agents", "list")
    assert done.status == 1 and done.err.startswith(f"accord: {accord.config}: cannot be read: ")


@pytest.mark.parametrize(
    "fault, words",
    [
        ("dies", "exited with status 3; standard error: config.json: no such file"),
        ("future", "the agent speaks protocol version 99, this client 1; update one of the two"),
        ("refuses", "this installation is broken"),
        ("no-session", "no disk left"),
        ("forks", "exited with status 0; nothing on standard error"),
    ],
)
def test_an_agent_that_fails_to_start_is_reported_with_the_stage_and_its_output(
    accord: Accord, fault: str, words: str
) -> None:
    done = accord("run", "--agent", agent("--fault", fault), "hello")
    assert (done.status, done.out) == (1, "")
    assert words in done.err


@pytest.mark.parametrize(
    "fault, words",
    [
        ("never", ' s of initialize (stage first byte); last output on stderr: "still downloading"'),
        (
            "garbage",
            "(stage initialize); its output isn't a protocol message: Parse error: the line is not JSON: 'Welcome",
        ),
    ],
)
def test_an_agent_that_does_not_respond_times_out_at_its_stage(accord: Accord, fault: str, words: str) -> None:
    def attempt(seconds: str) -> Done:
        accord.config.write_text(f"[deadlines]\n'first byte' = {seconds}\ninitialize = {seconds}\n")
        return accord("run", "--agent", agent("--fault", fault), "hello")

    done = with_time(attempt, lambda done: words in done.err)
    assert (done.status, done.out) == (1, "")
    assert words in done.err
    stage = "'first byte'" if fault == "never" else "initialize"
    assert done.err.endswith(f"; if it just needs more time, set {stage} under [deadlines] in {accord.config}\n")


def test_an_error_about_version_2_agents_suggests_the_flag(accord: Accord) -> None:
    done = accord("run", "--agent", agent("--fault", "only-2"), "hello")
    assert done.status == 1 and done.err.endswith("; it may support only version 2: try --v2\n")


def test_a_banner_before_the_first_message_is_skipped(accord: Accord) -> None:
    done = accord("run", "--agent", agent("--fault", "banner"), "hello")
    assert (done.status, done.out, done.err) == (0, "You said: hello\n", "")


def test_an_agent_that_dies_during_a_turn_is_reported_with_its_last_output(accord: Accord) -> None:
    done = accord.run("die")
    assert (done.status, done.out) == (1, "")
    assert "exited with status 3; standard error: no key like this" in done.err


def test_the_reason_for_an_error_is_sanitized_wherever_it_is_shown(accord: Accord) -> None:
    data = {"details": f"400 \x1b[2Jcredit too low for {SECRET}"}
    done = accord.run(f"break {json.dumps(data)}", env={"TEST_API_KEY": SECRET})
    assert done.status == 1
    assert done.err == "accord: Internal error: 400 \\x1b[2Jcredit too low for ••••\n"


def test_the_method_and_code_of_an_error_are_shown_on_request(accord: Accord) -> None:
    done = accord.run("--verbose", 'break {"details": "400 credit too low"}')
    assert done.err == "accord: session/prompt: Internal error: 400 credit too low (code -32603)\n"


def test_secrets_are_redacted_wherever_they_come_from(accord: Accord, here: Here) -> None:
    accord.config.write_text(f"[agents.a]\ncommand = {agent()!r}\nenv = {{ TEST_API_KEY = '{SECRET}' }}\n")
    for words in ["die"], ["--json", "fail"]:
        done = accord("run", "--agent", "a", *words)
        assert done.status == 1 and SECRET not in done.out + done.err
        assert "••••" in done.out + done.err
    done = accord("run", "--agent", agent("--fault", "no-session"), "x", env={"TEST_API_KEY": SECRET})
    assert done.err.endswith("no disk left for ••••\n")
    listed = here("agents", "list")
    assert SECRET not in listed.out


def test_a_traceback_is_shown_on_request(accord: Accord) -> None:
    command = [sys.executable, "-m", "accord", "run", "--agent", "no-such-agent", "hello"]
    done = subprocess.run(command, capture_output=True, text=True, env=accord.environment({"ACCORD_DEBUG": "1"}))
    assert done.returncode == 1 and "Traceback" in done.stderr and "LaunchError" in done.stderr


@pytest.mark.parametrize("command", [[], ["run"], ["agents", "add"], ["doctor"]], ids=" ".join)
def test_help_imports_only_the_option_parser(accord: Accord, command: list[str]) -> None:
    """Keeps `--help` fast."""
    help = [sys.executable, "-X", "importtime", "-m", "accord", *command, "--help"]
    done = subprocess.run(help, capture_output=True, text=True, check=True, env=accord.environment())
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    ours = {name for name in loaded if name.partition(".")[0] == "accord"}
    assert "click" in loaded and {"asyncio", "msgspec", "ssl", "sqlite3", "textual", "pydantic_ai"}.isdisjoint(loaded)
    light = {"accord.process", "accord.process.python"}  # puts the user's environment back
    rest = ours - light
    assert all(name.split(".")[1:2] in ([], ["__main__"], ["cli"], ["errors"], ["version"]) for name in rest), rest


def test_help_imports_nothing_that_it_does_not_need(accord: Accord) -> None:
    code = (
        "import sys\nfrom accord.cli import main\nsys.argv = ['accord', 'run', '--help']\n"
        "try:\n    main.main()\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('asyncio', 'msgspec', 'ssl', 'tomllib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ))
    assert done.stdout.splitlines()[-1] == "[]"
