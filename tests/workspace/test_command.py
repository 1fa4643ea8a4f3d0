"""Running an agent's commands, and the errors if they can't be run."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from workspace.terminal_fixtures import python, until_printed

from accord.errors import INVALID_PARAMS, InvalidParams
from accord.model.tool import ExitStatus
from accord.process import supervision
from accord.workspace.command import build_argv, needs_shell
from accord.workspace.terminals import Terminals

PATH = {"PATH": os.environ["PATH"]}


@pytest.fixture
async def terminals() -> AsyncIterator[Terminals]:
    terminals = Terminals(grace=0.2)
    yield terminals
    await terminals.close()


async def run(terminals: Terminals, command: str, args: list[str] = [], **how: object) -> str:  # noqa: B006
    """Return the output of a command."""
    how.setdefault("cwd", "/")
    id = await terminals.create("s", command, args, **how)  # type: ignore[arg-type]
    await terminals.wait_for_exit(id)
    return terminals.output(id).text


# -- Resolution


def script(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text("#!/bin/sh\necho run as $0 with $#\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    "command, args, is_line",
    [
        ("ls", [], False),
        ("ls", ["-la"], False),
        ("ls -la", [], True),
        ("ls -la", ["/"], False),  # with arguments it can only be a name
        ("echo $HOME", [], True),
        ("a&&b", [], True),
        ("~/bin/tool", [], True),
        ("A=1", [], True),
        ("nosuchcommand", [], False),
        ("./nosuchfile", [], False),
        ("", [], False),
    ],
)
def test_only_a_line_without_arguments_goes_to_a_shell(command: str, args: list[str], is_line: bool) -> None:
    assert needs_shell(command, args, cwd="/", env=PATH) is is_line
    found = build_argv(command, args, cwd="/", env=PATH)
    if is_line:
        assert found[1:] == ["-c", command], "a shell gets the very string that was judged"
    else:
        assert found == [command, *args]


def test_a_program_with_exactly_that_name_does_not_need_a_shell(tmp_path: Path) -> None:
    script(tmp_path, "my tool")

    assert not needs_shell("./my tool", [], cwd=str(tmp_path), env=PATH)
    assert not needs_shell(str(tmp_path / "my tool"), [], cwd="/", env=PATH)
    assert not needs_shell("my tool", [], cwd="/", env={"PATH": str(tmp_path)})
    assert needs_shell("my tool", [], cwd=str(tmp_path), env=PATH), "it is not on the PATH"


async def test_both_ways_to_write_a_command_work(terminals: Terminals) -> None:
    assert await run(terminals, "printf", ["%s|", "a b", "$HOME"]) == "a b|$HOME|"
    assert await run(terminals, "printf '%s|' 'a b' \"$HOME\" | tr a x", env={"HOME": "/h"}) == "x b|/h|"


async def test_a_program_with_a_space_in_its_name_is_run_by_name(terminals: Terminals, tmp_path: Path) -> None:
    tool = script(tmp_path, "my tool")

    assert await run(terminals, str(tool)) == f"run as {tool} with 0\n"
    assert await run(terminals, "./my tool", cwd=str(tmp_path)) == "run as ./my tool with 0\n"


async def test_a_line_may_use_what_agents_write(terminals: Terminals) -> None:
    assert await run(terminals, "set -o pipefail; [[ a == a* ]] && echo {1,2}; false | true; echo $?") == "1 2\n1\n"


# -- where, and with what


@pytest.mark.req("V1-TERM-04", "V1-TERM-05")
async def test_without_arguments_and_environment_it_runs_where_the_caller_says(
    terminals: Terminals, tmp_path: Path
) -> None:
    assert await run(terminals, "pwd", cwd=str(tmp_path)) == f"{tmp_path}\n"
    id = await terminals.create("s", "pwd", (), None, cwd=str(tmp_path))
    await terminals.wait_for_exit(id)
    assert terminals.output(id).text == f"{tmp_path}\n"


async def test_what_the_agent_sets_lies_over_what_the_client_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLOR", "red")
    terminals = Terminals()
    assert await run(terminals, "echo $COLOR$SIZE") == "red\n"
    assert await run(terminals, "echo $COLOR$SIZE", env={"COLOR": "blue", "SIZE": "9"}) == "blue9\n"

    bare = Terminals(environment={**PATH, "COLOR": "green"})
    assert await run(bare, "echo $COLOR$HOME") == "green\n"
    await terminals.close()
    await bare.close()


async def test_a_program_is_looked_for_on_the_path_that_the_agent_sets(terminals: Terminals, tmp_path: Path) -> None:
    script(tmp_path, "mine")

    assert await run(terminals, "mine", ["x"], env={"PATH": f"{tmp_path}:/bin"}) == f"run as {tmp_path}/mine with 1\n"


# -- what cannot be run


@pytest.mark.parametrize("pty", [False, True], ids=["pipe", "pty"])
@pytest.mark.parametrize(
    "command, args, words",
    [
        ("nosuch", [], "cannot start `nosuch`: 'nosuch' isn't on the PATH; install it"),
        ("npm run", ["test"], "'npm run' isn't on the PATH; .* \\(pass arguments in args\\)"),
        ("./nosuch", [], ".*/nosuch doesn't exist; check the path"),
        ("./plain", [], "plain isn't executable; run chmod"),
        ("./folder", [], "folder is a directory; give the program in it"),
        ("", [], "the command is empty"),
        ("echo", ["a\0b"], "cannot start `echo .*for invalid characters"),
    ],
)
async def test_an_agent_gets_the_reason_why_a_command_cannot_run(
    terminals: Terminals, tmp_path: Path, command: str, args: list[str], words: str, pty: bool
) -> None:
    (tmp_path / "plain").write_text("text")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InvalidParams, match=words) as caught:
        await terminals.create("s", command, args, cwd=str(tmp_path), pty=pty)

    assert caught.value.code == INVALID_PARAMS
    assert caught.value.data == {"command": command}
    assert terminals.ids() == []


@pytest.mark.parametrize("pty", [False, True], ids=["pipe", "pty"])
async def test_an_agent_gets_an_error_for_a_missing_directory(terminals: Terminals, tmp_path: Path, pty: bool) -> None:
    with pytest.raises(InvalidParams, match=r"the working directory .*/gone does not exist; create it"):
        await terminals.create("s", "ls", cwd=str(tmp_path / "gone"), pty=pty)
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidParams, match="is not a directory"):
        await terminals.create("s", "ls -la", cwd=str(tmp_path / "file"), pty=pty)


@pytest.mark.parametrize("pty", [False, True])
async def test_a_script_with_a_missing_interpreter_is_reported(terminals: Terminals, tmp_path: Path, pty: bool) -> None:
    path = tmp_path / "broken"
    path.write_text("#!/no/such/interpreter\n")
    path.chmod(0o755)
    with pytest.raises(InvalidParams, match="its interpreter /no/such/interpreter doesn't"):
        await terminals.create("s", str(path), cwd="/", pty=pty)


async def test_a_line_with_an_unknown_command_ends_as_in_a_shell(terminals: Terminals) -> None:
    id = await terminals.create("s", "nosuch --flag", cwd="/")

    assert await terminals.wait_for_exit(id) == ExitStatus(code=127)
    assert "nosuch" in terminals.output(id).text


@pytest.mark.parametrize("pty", [False, True], ids=["pipe", "pty"])
async def test_an_environment_that_no_program_can_be_given_is_refused(terminals: Terminals, pty: bool) -> None:
    for name, value in (("A=B", "c"), ("A", "c\0d")):
        with pytest.raises(InvalidParams, match=r"cannot start `true`: .*for invalid characters"):
            await terminals.create("s", "true", env={name: value}, cwd="/", pty=pty)


# -- on a terminal device


async def test_on_a_pipe_a_program_finds_no_terminal(terminals: Terminals) -> None:
    code = "import os; print([os.isatty(fd) for fd in (0, 1, 2)])"

    assert await run(terminals, *python(code)) == "[False, False, False]\n"


async def test_on_a_device_a_program_finds_its_own_terminal_and_its_size(terminals: Terminals) -> None:
    code = """
import os
print([os.isatty(fd) for fd in (0, 1, 2)], os.get_terminal_size(), os.environ["TERM"], os.environ["PAGER"])
tty = os.open("/dev/tty", os.O_RDWR)
print(os.tcgetpgrp(tty) == os.getpid() == os.getsid(0))
"""
    printed = await run(terminals, *python(code), pty=True, size=(99, 33))

    assert printed.splitlines() == [
        "[True, True, True] os.terminal_size(columns=99, lines=33) xterm-256color cat",
        "True",
    ]


async def test_the_agents_environment_counts_on_a_device_too(terminals: Terminals) -> None:
    assert await run(terminals, "echo $TERM $PAGER", pty=True, env={"TERM": "dumb", "PAGER": "more"}) == "dumb more\r\n"


async def test_a_program_on_a_device_starts_like_any_other(terminals: Terminals) -> None:
    code = """
import os, signal
print(signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, "LC_CTYPE" in os.environ, sorted(os.listdir("/proc/self/fd")))
"""
    environment = {"LANG": "C", "LC_ALL": ""}
    on_pipe = await run(terminals, "grep Sig[BIC] /proc/self/status; env | grep -c LC_CTYPE", env=environment)
    on_device = await run(
        terminals, "grep Sig[BIC] /proc/self/status; env | grep -c LC_CTYPE", env=environment, pty=True
    )

    assert on_device.replace("\r\n", "\n") == on_pipe
    assert len((await run(terminals, *python(code), pty=True)).split("'")) == 2 * 4 + 1, "0, 1, 2 and that of the list"


@pytest.mark.parametrize("pty", [False, True], ids=["pipe", "pty"])
async def test_a_program_hears_the_signals_that_we_ignore(
    terminals: Terminals, monkeypatch: pytest.MonkeyPatch, pty: bool
) -> None:
    """As under `nohup`, and in the background of a script."""
    supervisor = supervision.SupervisorConnection()  # a new one, which ignores these signals as well
    monkeypatch.setattr(supervision, "_supervisor", supervisor)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGHUP, signal.SIGINT)}
    try:
        printed = await run(terminals, "grep SigIgn /proc/self/status", pty=pty)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

    ignored = int(printed.split()[1], 16)
    assert ignored & 0x7FFFFFFF == 0, "standard signals; the C library keeps the first two real-time ones to itself"
    await terminals.close()
    supervisor.forget()


async def test_a_program_is_notified_when_its_terminal_changes_size(terminals: Terminals) -> None:
    code = """
import os, signal
def changed(*_):
    os.write(1, b"%d %d\\n" % os.get_terminal_size())
    os._exit(0)
signal.signal(signal.SIGWINCH, changed)
os.write(1, b"ready\\n")
while True:
    signal.pause()
"""
    id = await terminals.create("s", *python(code), cwd="/", pty=True)
    await until_printed(terminals, id, "ready")
    terminals.resize(id, 101, 7)

    assert await terminals.wait_for_exit(id) == ExitStatus(code=0)
    assert terminals.output(id).text == "ready\r\n101 7\r\n"
    terminals.resize(id, 10, 10)  # harmless when it is gone


async def test_all_output_of_a_pty_is_available_after_the_exit(terminals: Terminals) -> None:
    printed = await run(terminals, "seq 20000", pty=True)

    assert printed == "".join([f"{number}\r\n" for number in range(1, 20001)])


async def test_a_background_process_that_holds_the_device_delays_the_end_only_briefly(terminals: Terminals) -> None:
    id = await terminals.create("s", "(trap '' HUP; sleep 600) & echo now", cwd="/", pty=True)

    assert await terminals.wait_for_exit(id) == ExitStatus(code=0)
    assert terminals.output(id).text == "now\r\n"
