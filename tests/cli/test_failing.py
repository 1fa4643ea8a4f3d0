"""What the command line says when something is wrong: where, what, and what to do; never a traceback or a secret."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest
from commands import Accord, Done, Here, agent, with_time

SECRET = "abcdef-0123456789"


def test_help_lists_the_commands(accord: Accord, here: Here) -> None:
    done = accord("--help")
    assert done.status == 0 and done.out.startswith("Usage: accord [OPTIONS] [COMMAND]")
    for name in ("agents", "doctor", "run", "trust"):
        assert f"\n  {name} " in done.out
    assert here("agents").out.startswith("Usage: accord agents")
    assert here("--version").out.startswith("accord, version ")


@pytest.mark.parametrize(
    "words, said",
    [
        (["rum"], "accord: there is no command 'rum'; did you mean run?\nsee: accord --help\n"),
        (["run", "--alow", "x"], "accord run: no such option '--alow'. Did you mean '--allow'?"),
        (["run", "--timeout", "0", "x"], "accord run: invalid value for '--timeout'"),
    ],
)
def test_wrong_usage_is_said_in_two_lines(here: Here, words: list[str], said: str) -> None:
    done = here(*words)
    assert done.status == 2 and done.out == ""
    assert done.err.startswith(said)
    assert len(done.err.splitlines()) == 2


def test_an_unknown_agent_is_answered_with_the_nearest_names(accord: Accord, here: Here) -> None:
    accord.config.write_text("[agents.scribe]\ncommand = 'scribe'\n[agents.other]\ncommand = 'other'\n")
    done = accord("run", "--agent", "scrib", "hello")
    assert (done.status, done.err) == (
        1,
        "accord: there is no agent 'scrib', and no program of that name: did you mean scribe?\n",
    )
    done = here("run", "hello")
    assert "make one the default (configured: scribe, other)" in done.err


@pytest.mark.parametrize("command", [["run", "hello"], ["agents", "list"], ["agents", "add", "a", "--", "b"]])
def test_a_configuration_that_cannot_be_read_is_named_with_the_line(
    accord: Accord, here: Here, command: list[str]
) -> None:
    text = "[agents.a]\ncommand = 'a'\n\n[agents.b]\ncommand = 5\n"
    accord.config.write_text(text)
    done = here(*command)
    assert (done.status, done.out) == (1, "")
    assert done.err == (
        f"accord: {accord.config}: line 5: agents.b.command: found a whole number; expected a text or a list\n"
    )
    assert accord.config.read_text() == text


def test_a_configuration_that_may_not_be_read_is_an_error_and_not_ignored(accord: Accord, here: Here) -> None:
    accord.config.mkdir()
    done = here("agents", "list")
    assert done.status == 1 and done.err.startswith(f"accord: {accord.config}: cannot be read: ")


@pytest.mark.parametrize(
    "fault, words",
    [
        ("dies", "ended with status 3; its last words: config.json: no such file"),
        ("future", "the agent speaks protocol version 99, this client 1; update one of the two"),
        ("refuses", "this installation is broken"),
        ("no-session", "session/new: no disk left"),
        ("forks", "ended with status 0; it said nothing on standard error"),
    ],
)
def test_an_agent_that_does_not_come_up_is_told_with_stage_and_words(accord: Accord, fault: str, words: str) -> None:
    done = accord("run", "--agent", agent("--fault", fault), "hello")
    assert (done.status, done.out) == (1, "")
    assert words in done.err


@pytest.mark.parametrize(
    "fault, words",
    [
        ("never", ' s of initialize (stage first byte); its last words: "still downloading"'),
        ("garbage", "(stage initialize); what it printed is no message: Parse error: the line is not JSON: 'Welcome"),
    ],
)
def test_an_agent_that_does_not_answer_is_given_up_at_its_stage(accord: Accord, fault: str, words: str) -> None:
    def attempt(seconds: str) -> Done:
        accord.config.write_text(f"[deadlines]\n'first byte' = {seconds}\ninitialize = {seconds}\n")
        return accord("run", "--agent", agent("--fault", fault), "hello")

    done = with_time(attempt, lambda done: words in done.err)
    assert (done.status, done.out) == (1, "")
    assert words in done.err
    stage = "'first byte'" if fault == "never" else "initialize"
    assert done.err.endswith(f"; if it only needs longer, set {stage} under [deadlines] in {accord.config}\n")


def test_a_banner_before_the_first_message_is_no_harm(accord: Accord) -> None:
    done = accord("run", "--agent", agent("--fault", "banner"), "hello")
    assert (done.status, done.out, done.err) == (0, "You said: hello\n", "")


def test_an_agent_that_dies_in_a_turn_is_told_with_its_last_words(accord: Accord) -> None:
    done = accord.run("die")
    assert (done.status, done.out) == (1, "")
    assert "ended with status 3; its last words: no key like this" in done.err


def test_secrets_are_masked_wherever_they_come_from(accord: Accord, here: Here) -> None:
    accord.config.write_text(f"[agents.a]\ncommand = {agent()!r}\nenv = {{ TEST_API_KEY = '{SECRET}' }}\n")
    for words in ["die"], ["--json", "fail"]:
        done = accord("run", "--agent", "a", *words)
        assert done.status == 1 and SECRET not in done.out + done.err
        assert "••••" in done.out + done.err
    done = accord("run", "--agent", agent("--fault", "no-session"), "x", env={"TEST_API_KEY": SECRET})
    assert done.err.endswith("no disk left for •••• (code -32603)\n")
    listed = here("agents", "list")
    assert SECRET not in listed.out


def test_a_traceback_is_shown_to_those_who_ask_for_it(accord: Accord) -> None:
    command = [sys.executable, "-m", "accord", "run", "--agent", "no-such-agent", "hello"]
    done = subprocess.run(command, capture_output=True, text=True, env=accord.environment({"ACCORD_DEBUG": "1"}))
    assert done.returncode == 1 and "Traceback" in done.stderr and "LaunchError" in done.stderr


@pytest.mark.parametrize("command", [[], ["run"], ["agents", "add"], ["doctor"]], ids=" ".join)
def test_help_comes_at_once(accord: Accord, command: list[str]) -> None:
    """Within 150 ms on an idle machine; here the time of the processor counts, which others cannot take from us."""
    best = _seconds([sys.executable, "-m", "accord", *command, "--help"], accord)
    if best >= 0.15:  # a slow machine: then no more than half as much again as Python and its parser of options need
        assert best < 1.5 * _seconds([sys.executable, "-c", "import click"], accord)


def _seconds(command: list[str], accord: Accord) -> float:
    """What a command costs the processor, at best."""
    costs = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=accord.environment())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(costs)


def test_help_loads_nothing_that_it_does_not_need(accord: Accord) -> None:
    code = (
        "import sys\nfrom accord.cli import main\nsys.argv = ['accord', 'run', '--help']\n"
        "try:\n    main.main()\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('asyncio', 'msgspec', 'ssl', 'tomllib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ))
    assert done.stdout.splitlines()[-1] == "[]"
