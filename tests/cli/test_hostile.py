"""Rough surroundings: streams that are closed, full or broken, words that are no text, folders that are not there."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from commands import PATIENCE, Accord, Done, agent, gone, happens

HELLO = ["run", "--agent", agent(), "hello"]


def in_shell(accord: Accord, words: list[str], how: str, **more: str) -> Done:
    """Runs `accord` with its streams as a shell makes them."""
    line = f"exec {shlex.join([sys.executable, '-m', 'accord', *words])} {how}"
    done = subprocess.run(
        ["sh", "-c", line],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=accord.project,
        env=accord.environment(more),
    )
    assert "Traceback" not in done.stderr and "fault in accord" not in done.stderr, done.stderr
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
def test_a_stream_that_is_closed_is_done_without(
    accord: Accord, words: list[str], how: str, outcome: tuple[int, str, str | None]
) -> None:
    done = in_shell(accord, words, how)
    assert (done.status, done.out) == outcome[:2]
    assert outcome[2] in (None, done.err)


@pytest.mark.parametrize("words", [["--help"], ["run", "--output-schema"], ["agents", "list", "--json"], ["doctor"]])
def test_a_reader_that_is_gone_ends_every_command_alike(accord: Accord, words: list[str]) -> None:
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
def test_output_that_cannot_be_written_is_said(accord: Accord, words: list[str]) -> None:
    done = in_shell(accord, words, "> /dev/full")
    assert (done.status, done.err) == (1, "accord: the output cannot be written: No space left on device\n")
    assert in_shell(accord, ["run", "--agent", "none", "x"], "2> /dev/full").status == 1


@pytest.mark.parametrize(
    "words, said",
    [
        (["run", "--agent", agent(), b"caf\xe9"], "accord run: the prompt is no text in UTF-8"),
        (["run", "--agent", agent(), "--session", b"\xe9", "x"], "accord run: --session is no text in UTF-8"),
        (["run", "--agent", agent(), "--set", b"a=\xe9", "x"], "accord run: --set is no text in UTF-8"),
        (["run", "--agent", b"caf\xe9", "x"], r"accord: cannot start `'caf\udce9'`: there is no command"),
        (["doctor", agent(), "--prompt", b"\xe9"], "accord doctor: the prompt is no text in UTF-8"),
        (["agents", "add", "a", "--", b"caf\xe9"], "accord: a text that is not UTF-8 cannot be kept in a file"),
        (["trust", b"caf\xe9"], r"accord: caf\udce9 is no folder"),
        ([b"caf\xe9"], r"accord: there is no command 'caf\udce9'"),
    ],
)
def test_words_that_are_no_text_are_refused(accord: Accord, words: list[str | bytes], said: str) -> None:
    command = [sys.executable, "-m", "accord", *words]
    done = subprocess.run(command, capture_output=True, cwd=accord.project, env=accord.environment(), check=False)
    assert done.stderr.decode().startswith(said) and done.returncode in (1, 2)
    assert "Traceback" not in done.stderr.decode()


@pytest.mark.parametrize("locale", ["C.UTF-8", "POSIX"])
def test_a_prompt_from_a_pipe_is_text_whatever_the_locale(accord: Accord, locale: str) -> None:
    environment = accord.environment({"LC_ALL": locale})
    command = [sys.executable, "-m", "accord", "run", "--agent", agent()]
    for given, status, said in (
        (b"caf\xe9", 2, b""),
        (b"\xef\xbb\xbfcaf\xc3\xa9\r\n", 0, b"You said: caf\xc3\xa9\n"),
    ):
        done = subprocess.run(command, input=given, capture_output=True, env=environment, check=False)
        assert (done.returncode, done.stdout) == (status, said)


def test_a_long_prompt_arrives_whole(accord: Accord) -> None:
    text = "word " * 400_000 + "end"
    done = accord("run", "--agent", agent(), stdin=text)
    assert done.status == 0 and done.out == f"You said: {text}\n"


def test_a_folder_whose_name_is_no_text_is_refused(accord: Accord) -> None:
    folder = os.fsencode(accord.project) + b"/caf\xe9"
    os.mkdir(folder)
    for words in HELLO, ["doctor", agent()]:
        done = accord(*words, cwd=Path(os.fsdecode(folder)))
        assert (
            done.status == 2 and r"the name of the folder" in done.err and r"caf\udce9 is no text in UTF-8" in done.err
        )


@pytest.mark.parametrize("words", [HELLO, ["doctor", agent()], ["agents", "list"], ["trust"]])
def test_a_folder_that_is_gone_is_said(accord: Accord, words: list[str]) -> None:
    line = f"mkdir gone && cd gone && rmdir ../gone && exec {shlex.join([sys.executable, '-m', 'accord', *words])}"
    done = subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, cwd=accord.project, env=accord.environment(), check=False
    )
    assert done.stderr == "accord: the folder you are in is not there any more; go to another one\n"
    assert done.returncode == 1


def test_a_log_that_cannot_be_written_is_said_once_and_stops_nothing(accord: Accord) -> None:
    nowhere = {"ACCORD_DATA_HOME": "/dev/null/data"}
    done = accord.run("--allow", "write:*", "write a.txt hello", env=nowhere)
    assert (done.status, done.out) == (0, "written\n")
    assert "warning: decisions are not being written to /dev/null/data/decisions.jsonl: Not a directory\n" in done.err
    looked = accord("doctor", agent(), env=nowhere)
    assert "note: /dev/null/data/decisions.jsonl cannot be written\n" in looked.out
    refused = accord("trust", env=nowhere)
    assert refused.status == 1 and "trust.toml: cannot be written: Not a directory" in refused.err


def test_a_configuration_that_cannot_be_written_is_said(accord: Accord) -> None:
    done = accord("agents", "add", "a", "--", "b", env={"ACCORD_CONFIG_HOME": "/proc/nowhere"})
    assert (done.status, done.err) == (
        1,
        "accord: /proc/nowhere/config.toml: cannot be written: No such file or directory\n",
    )


def test_a_configuration_out_of_reach_is_not_passed_over(accord: Accord) -> None:
    done = accord(*HELLO, env={"ACCORD_CONFIG_HOME": "/" + "x" * 5000})
    assert done.status == 1 and done.err.endswith("/config.toml: cannot be read: File name too long\n")


@pytest.mark.parametrize("command", [HELLO, ["doctor", agent()]])
@pytest.mark.parametrize("seconds", ["nan", "inf", "-1", "0", "soon"])
def test_a_time_that_is_none_is_refused(accord: Accord, command: list[str], seconds: str) -> None:
    done = accord(*command, "--timeout", seconds)
    assert done.status == 2 and "invalid value for '--timeout'" in done.err


def test_ctrl_c_while_it_is_loaded_ends_it_without_a_word(accord: Accord) -> None:
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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=accord.environment(), timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")


def test_ctrl_c_ends_a_diagnosis_and_leaves_nobody(accord: Accord) -> None:
    log = accord.folder / "log"
    with accord.start("doctor", agent("--fault", "slow-session", "--log", str(log))) as process:
        assert happens(lambda: log.exists() and "session/new" in log.read_text())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err.strip()) == (130, "")
    (pid,) = [int(line.rpartition(" ")[2]) for line in out.splitlines() if line.startswith("ok   spawn: process ")]
    assert gone(pid)
