"""What an agent's command means, where and with what it runs, and what an agent is told when it cannot."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from workspace.printing import python, until_printed

from accord.errors import INVALID_PARAMS, InvalidParams
from accord.model.tool import ExitStatus
from accord.workspace.command import argv, by_shell
from accord.workspace.terminals import Terminals

PATH = {"PATH": os.environ["PATH"]}


@pytest.fixture
async def terminals() -> AsyncIterator[Terminals]:
    terminals = Terminals(grace=0.2)
    yield terminals
    await terminals.close()


async def said(terminals: Terminals, command: str, args: list[str] = [], **how: object) -> str:  # noqa: B006
    """What a command prints from its beginning to its end."""
    how.setdefault("cwd", "/")
    id = await terminals.create("s", command, args, **how)  # type: ignore[arg-type]
    await terminals.wait_for_exit(id)
    return terminals.output(id).text


# -- what is meant


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
    assert by_shell(command, args, cwd="/", env=PATH) is is_line
    found = argv(command, args, cwd="/", env=PATH)
    if is_line:
        assert found[1:] == ["-c", command], "a shell gets the very string that was judged"
    else:
        assert found == [command, *args]


def test_a_program_of_exactly_that_name_is_no_line_for_a_shell(tmp_path: Path) -> None:
    script(tmp_path, "my tool")

    assert not by_shell("./my tool", [], cwd=str(tmp_path), env=PATH)
    assert not by_shell(str(tmp_path / "my tool"), [], cwd="/", env=PATH)
    assert not by_shell("my tool", [], cwd="/", env={"PATH": str(tmp_path)})
    assert by_shell("my tool", [], cwd=str(tmp_path), env=PATH), "it is not on the PATH"


async def test_both_ways_to_write_a_command_work(terminals: Terminals) -> None:
    assert await said(terminals, "printf", ["%s|", "a b", "$HOME"]) == "a b|$HOME|"
    assert await said(terminals, "printf '%s|' 'a b' \"$HOME\" | tr a x", env={"HOME": "/h"}) == "x b|/h|"


async def test_a_program_with_a_space_in_its_name_is_run_by_name(terminals: Terminals, tmp_path: Path) -> None:
    tool = script(tmp_path, "my tool")

    assert await said(terminals, str(tool)) == f"run as {tool} with 0\n"
    assert await said(terminals, "./my tool", cwd=str(tmp_path)) == "run as ./my tool with 0\n"


async def test_a_line_may_use_what_agents_write(terminals: Terminals) -> None:
    assert await said(terminals, "set -o pipefail; [[ a == a* ]] && echo {1,2}; false | true; echo $?") == "1 2\n1\n"


# -- where, and with what


@pytest.mark.req("V1-TERM-04", "V1-TERM-05")
async def test_without_arguments_and_environment_it_runs_where_the_caller_says(
    terminals: Terminals, tmp_path: Path
) -> None:
    assert await said(terminals, "pwd", cwd=str(tmp_path)) == f"{tmp_path}\n"
    id = await terminals.create("s", "pwd", (), None, cwd=str(tmp_path))
    await terminals.wait_for_exit(id)
    assert terminals.output(id).text == f"{tmp_path}\n"


async def test_what_the_agent_sets_lies_over_what_the_client_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLOUR", "red")
    terminals = Terminals()
    assert await said(terminals, "echo $COLOUR$SIZE") == "red\n"
    assert await said(terminals, "echo $COLOUR$SIZE", env={"COLOUR": "blue", "SIZE": "9"}) == "blue9\n"

    bare = Terminals(environment={**PATH, "COLOUR": "green"})
    assert await said(bare, "echo $COLOUR$HOME") == "green\n"
    await terminals.close()
    await bare.close()


async def test_a_program_is_looked_for_on_the_path_that_the_agent_sets(terminals: Terminals, tmp_path: Path) -> None:
    script(tmp_path, "mine")

    assert await said(terminals, "mine", ["x"], env={"PATH": f"{tmp_path}:/bin"}) == f"run as {tmp_path}/mine with 1\n"


# -- what cannot be run


@pytest.mark.parametrize("pty", [False, True], ids=["pipe", "pty"])
@pytest.mark.parametrize(
    "command, args, words",
    [
        ("nosuch", [], "cannot start `nosuch`: there is no command 'nosuch' on the PATH; install it"),
        ("npm run", ["test"], "no command 'npm run' on the PATH; .* \\(arguments belong in args\\)"),
        ("./nosuch", [], "there is no file .*/nosuch; check the path"),
        ("./plain", [], "plain is not executable; run chmod"),
        ("./folder", [], "folder is a directory; name the program in it"),
        ("", [], "there is no command to run"),
        ("echo", ["a\0b"], "cannot start `echo .*characters that no program can be given"),
    ],
)
async def test_an_agent_is_told_in_words_why_a_command_cannot_be_run(
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
async def test_an_agent_is_told_that_the_folder_is_missing(terminals: Terminals, tmp_path: Path, pty: bool) -> None:
    with pytest.raises(InvalidParams, match=r"the working directory .*/gone does not exist; create it"):
        await terminals.create("s", "ls", cwd=str(tmp_path / "gone"), pty=pty)
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidParams, match="is not a directory"):
        await terminals.create("s", "ls -la", cwd=str(tmp_path / "file"), pty=pty)


async def test_a_script_without_its_interpreter_is_said_to_be_one(terminals: Terminals, tmp_path: Path) -> None:
    path = tmp_path / "broken"
    path.write_text("#!/no/such/interpreter\n")
    path.chmod(0o755)
    with pytest.raises(InvalidParams, match="/no/such/interpreter that it names in its first line is not"):
        await terminals.create("s", str(path), cwd="/")

    id = await terminals.create(
        "s", str(path), cwd="/", pty=True
    )  # there it is found out when it is too late to refuse
    assert await terminals.wait_for_exit(id) == ExitStatus(code=127)
    assert terminals.output(id).text == f"{path}: No such file or directory\r\n"


async def test_a_line_with_an_unknown_command_ends_as_in_a_shell(terminals: Terminals) -> None:
    id = await terminals.create("s", "nosuch --flag", cwd="/")

    assert await terminals.wait_for_exit(id) == ExitStatus(code=127)
    assert "nosuch" in terminals.output(id).text


@pytest.mark.parametrize("pty", [False, True], ids=["pipe", "pty"])
async def test_an_environment_that_no_program_can_be_given_is_refused(terminals: Terminals, pty: bool) -> None:
    for name, value in (("A=B", "c"), ("A", "c\0d")):
        with pytest.raises(InvalidParams, match=r"cannot start `true`: .*characters that no program can be given"):
            await terminals.create("s", "true", env={name: value}, cwd="/", pty=pty)


# -- on a terminal device


async def test_on_a_pipe_a_program_finds_no_terminal(terminals: Terminals) -> None:
    code = "import os; print([os.isatty(fd) for fd in (0, 1, 2)])"

    assert await said(terminals, *python(code)) == "[False, False, False]\n"


async def test_on_a_device_a_program_finds_its_own_terminal_and_its_size(terminals: Terminals) -> None:
    code = """
import os
print([os.isatty(fd) for fd in (0, 1, 2)], os.get_terminal_size(), os.environ["TERM"], os.environ["PAGER"])
tty = os.open("/dev/tty", os.O_RDWR)
print(os.tcgetpgrp(tty) == os.getpid() == os.getsid(0))
"""
    printed = await said(terminals, *python(code), pty=True, size=(99, 33))

    assert printed.splitlines() == [
        "[True, True, True] os.terminal_size(columns=99, lines=33) xterm-256color cat",
        "True",
    ]


async def test_the_agents_environment_counts_on_a_device_too(terminals: Terminals) -> None:
    assert (
        await said(terminals, "echo $TERM $PAGER", pty=True, env={"TERM": "dumb", "PAGER": "more"}) == "dumb more\r\n"
    )


async def test_a_program_on_a_device_starts_like_any_other(terminals: Terminals) -> None:
    code = """
import os, signal
print(signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, "LC_CTYPE" in os.environ, sorted(os.listdir("/proc/self/fd")))
"""
    environment = {"LANG": "C", "LC_ALL": ""}
    on_pipe = await said(terminals, "grep Sig[BIC] /proc/self/status; env | grep -c LC_CTYPE", env=environment)
    on_device = await said(
        terminals, "grep Sig[BIC] /proc/self/status; env | grep -c LC_CTYPE", env=environment, pty=True
    )

    assert on_device.replace("\r\n", "\n") == on_pipe
    assert len((await said(terminals, *python(code), pty=True)).split("'")) == 2 * 4 + 1, "0, 1, 2 and that of the list"


async def test_a_program_is_told_when_its_terminal_changes_size(terminals: Terminals) -> None:
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


async def test_all_that_was_printed_on_a_device_is_there_when_the_command_has_ended(terminals: Terminals) -> None:
    printed = await said(terminals, "seq 20000", pty=True)

    assert printed == "".join([f"{number}\r\n" for number in range(1, 20001)])


async def test_who_holds_a_device_in_the_background_delays_the_end_only_a_moment(terminals: Terminals) -> None:
    id = await terminals.create("s", "(trap '' HUP; sleep 600) & echo now", cwd="/", pty=True)

    assert await terminals.wait_for_exit(id) == ExitStatus(code=0)
    assert terminals.output(id).text == "now\r\n"
