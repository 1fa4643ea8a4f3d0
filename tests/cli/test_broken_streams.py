"""Hostile environments: closed, full or broken streams, arguments that are not text, missing directories."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli_runner import TIMEOUT_SECONDS, Accord, Done, Here, agent, gone, happens

HELLO = ["run", "--agent", agent(), "hello"]


def in_shell(accord: Accord, words: list[str], how: str, **more: str) -> Done:
    """Run `accord` in a shell, with redirected streams."""
    line = f"exec {shlex.join([sys.executable, '-m', 'accord', *words])} {how}"
    done = subprocess.run(
        ["sh", "-c", line],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        cwd=accord.project,
        env=accord.environment(more),
    )
    assert "Traceback" not in done.stderr and "internal error" not in done.stderr, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    "words, how, outcome",
    [
        (HELLO, "<&-", (0, "You said: hello\n", "")),
        (HELLO, ">&-", (0, "", "")),
        (["run", "--json", *HELLO[1:]], ">&-", (0, "", "")),
        (HELLO, "2>&-", (0, "You said: hello\n", "")),
        (HELLO, "<&- >&- 2>&-", (0, "", "")),
        (["run", "--agent", agent()], "<&-", (2, "", None)),
        (["run", "--agent", "no-such-agent", "hello"], "2>&-", (1, "", "")),
        (["agents", "list", "--json"], ">&-", (0, "", "")),
        (["doctor", agent()], ">&-", (0, "", "")),
        (["--help"], ">&-", (0, "", "")),
    ],
)
def test_commands_work_with_closed_standard_streams(
    accord: Accord, words: list[str], how: str, outcome: tuple[int, str, str | None]
) -> None:
    done = in_shell(accord, words, how)
    assert (done.status, done.out) == outcome[:2]
    assert outcome[2] in (None, done.err)


@pytest.mark.parametrize("words", [["--help"], ["run", "--output-schema"], ["agents", "list", "--json"], ["doctor"]])
def test_every_command_ends_quietly_when_its_reader_is_gone(accord: Accord, words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "accord", *words]
    try:
        done = subprocess.run(
            command, stdout=writing, stderr=subprocess.PIPE, cwd=accord.project, env=accord.environment(), check=False
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", [HELLO, ["run", "--json", *HELLO[1:]], ["agents", "list", "--json"], ["--help"]])
def test_an_error_while_writing_output_is_reported(accord: Accord, words: list[str]) -> None:
    done = in_shell(accord, words, "> /dev/full")
    assert (done.status, done.err) == (1, "accord: can't write the output: No space left on device\n")
    assert in_shell(accord, ["run", "--agent", "none", "x"], "2> /dev/full").status == 1


@pytest.mark.parametrize(
    "words, said",
    [
        (["run", "--agent", agent(), b"caf\xe9"], "accord run: the prompt isn't valid UTF-8"),
        (["run", "--agent", agent(), "--session", b"\xe9", "x"], "accord run: --session isn't valid UTF-8"),
        (["run", "--agent", agent(), "--set", b"a=\xe9", "x"], "accord run: --set isn't valid UTF-8"),
        (["run", "--agent", b"caf\xe9", "x"], r"accord: cannot start `'caf\udce9'`: 'caf\udce9' isn't on the PATH"),
        (["doctor", agent(), "--prompt", b"\xe9"], "accord doctor: the prompt isn't valid UTF-8"),
        (["agents", "add", "a", "--", b"caf\xe9"], "accord: text that isn't valid Unicode can't be saved in a file"),
        (["trust", b"caf\xe9"], r"accord: caf\udce9 isn't a directory"),
        ([b"caf\xe9"], "accord chat: the prompt isn't valid UTF-8"),
    ],
)
def test_arguments_that_are_not_valid_text_are_rejected(accord: Accord, words: list[str | bytes], said: str) -> None:
    command = [sys.executable, "-m", "accord", *words]
    done = subprocess.run(command, capture_output=True, cwd=accord.project, env=accord.environment(), check=False)
    assert done.stderr.decode().startswith(said) and done.returncode in (1, 2)
    assert "Traceback" not in done.stderr.decode()


@pytest.mark.parametrize("locale", ["C.UTF-8", "POSIX"])
def test_a_piped_prompt_is_decoded_the_same_in_every_locale(accord: Accord, locale: str) -> None:
    environment = accord.environment({"LC_ALL": locale})
    command = [sys.executable, "-m", "accord", "run", "--agent", agent()]
    for given, status, said in (
        (b"caf\xe9", 2, b""),
        (b"\xef\xbb\xbfcaf\xc3\xa9\r\n", 0, b"You said: caf\xc3\xa9\n"),
    ):
        done = subprocess.run(command, input=given, capture_output=True, env=environment, check=False)
        assert (done.returncode, done.stdout) == (status, said)


def test_a_long_prompt_arrives_complete(accord: Accord) -> None:
    text = "word " * 400_000 + "end"
    done = accord("run", "--agent", agent(), stdin=text)
    assert done.status == 0 and done.out == f"You said: {text}\n"


def test_a_directory_whose_name_is_not_valid_text_is_rejected(accord: Accord) -> None:
    folder = os.fsencode(accord.project) + b"/caf\xe9"
    os.mkdir(folder)
    for words in HELLO, ["doctor", agent()]:
        done = accord(*words, cwd=Path(os.fsdecode(folder)))
        assert done.status == 2 and r"the directory name" in done.err and r"caf\udce9 isn't valid UTF-8" in done.err


@pytest.mark.parametrize("words", [HELLO, ["doctor", agent()], ["agents", "list"], ["trust"]])
def test_a_deleted_working_directory_is_reported(accord: Accord, words: list[str]) -> None:
    line = f"mkdir gone && cd gone && rmdir ../gone && exec {shlex.join([sys.executable, '-m', 'accord', *words])}"
    done = subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, cwd=accord.project, env=accord.environment(), check=False
    )
    assert done.stderr == "accord: the current directory no longer exists; cd to another one\n"
    assert done.returncode == 1


def test_an_unwritable_log_is_reported_once_and_stops_nothing(accord: Accord) -> None:
    nowhere = {"ACCORD_DATA_HOME": "/dev/null/data"}
    done = accord.run("--allow", "write:*", "write a.txt hello", env=nowhere)
    assert (done.status, done.out) == (0, "written\n")
    assert "warning: decisions aren't being logged to /dev/null/data/decisions.jsonl: Not a directory\n" in done.err
    looked = accord("doctor", agent(), env=nowhere)
    assert "note: /dev/null/data/decisions.jsonl isn't writable\n" in looked.out
    refused = accord("trust", env=nowhere)
    assert refused.status == 1 and "trust.toml: cannot be written: Not a directory" in refused.err


def test_an_unwritable_configuration_is_reported(accord: Accord) -> None:
    done = accord("agents", "add", "a", "--", "b", env={"ACCORD_CONFIG_HOME": "/proc/nowhere"})
    assert (done.status, done.err) == (
        1,
        "accord: /proc/nowhere/config.toml: cannot be written: No such file or directory\n",
    )


def test_an_inaccessible_configuration_is_an_error(accord: Accord) -> None:
    done = accord(*HELLO, env={"ACCORD_CONFIG_HOME": "/" + "x" * 5000})
    assert done.status == 1 and done.err.endswith("/config.toml: cannot be read: File name too long\n")


@pytest.mark.parametrize("command", [HELLO, ["doctor", agent()]])
@pytest.mark.parametrize("seconds", ["nan", "inf", "-1", "0", "soon"])
def test_an_invalid_timeout_is_rejected(here: Here, command: list[str], seconds: str) -> None:
    done = here(*command, "--timeout", seconds)
    assert done.status == 2 and "invalid value for '--timeout'" in done.err


def test_ctrl_c_during_startup_ends_it_silently(accord: Accord) -> None:
    code = (
        "import os, signal, sys, time\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'accord.cli.main':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "            time.sleep(60)\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from accord.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=accord.environment(), timeout=TIMEOUT_SECONDS
    )
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")


def test_ctrl_c_ends_doctor_and_leaves_no_process(accord: Accord) -> None:
    log = accord.folder / "log"
    with accord.start("doctor", agent("--fault", "slow-session", "--log", str(log))) as process:
        assert happens(lambda: log.exists() and "session/new" in log.read_text())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT_SECONDS)
    assert (process.returncode, err.strip()) == (130, "")
    (pid,) = [int(line.rpartition(" ")[2]) for line in out.splitlines() if line.startswith("ok   spawn: process ")]
    assert gone(pid)
