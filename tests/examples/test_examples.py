"""Every example runs as a process, as its reader would run it, and prints what it promises."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

import accord
from accord.testing import ScriptedClient

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TIMEOUT_SECONDS = 300.0


def run(name: str, *arguments: str, cwd: Path, **environment: str) -> str:
    """Run an example without standard input, and return its output."""
    done = subprocess.run(
        [sys.executable, "-W", "default", str(EXAMPLES / name), *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT_SECONDS,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout


def agent(name: str) -> list[str]:
    return [sys.executable, str(EXAMPLES / name)]


def test_every_example_is_tested_and_in_the_index() -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    files = [path for path in EXAMPLES.iterdir() if path.suffix in (".py", ".ipynb")]
    assert [path.name for path in files if path.stem not in tests] == []
    assert [path.name for path in files if f"[{path.name}]({path.name})" not in index] == []


@pytest.mark.parametrize("versions", [{1}, {2}], ids=["v1", "v2"])
async def test_the_echo_agent_repeats_the_prompt(versions: set[int]) -> None:
    async with accord.connect(agent("echo_agent.py"), versions=versions) as echo:
        turn = await (await echo.new_session()).prompt("hello")
    assert turn.text == "You said: hello"


@pytest.mark.parametrize("allowed", [True, False], ids=["allowed", "refused"])
async def test_the_scribe_reads_asks_and_writes_through_its_client(allowed: bool, tmp_path: Path) -> None:
    notes = str(tmp_path / "NOTES.md")
    client = ScriptedClient(permissions=[allowed], files={notes: "bread\n"})
    async with accord.connect(agent("scribe_agent.py"), cwd=tmp_path, **client.options()) as scribe:
        turn = await (await scribe.new_session()).prompt("milk")
    assert turn.text == "Noted: milk"
    assert client.files[notes] == ("bread\nmilk\n" if allowed else "bread\n")
    assert [request.title for request in client.asked] == ["Append a line to NOTES.md"]
    read, asked = turn.tool_calls
    assert (read.title, read.kind, read.status, read.locations[0].path) == ("Read notes", "read", "completed", notes)
    assert (asked.kind, asked.status) == ("edit", "completed" if allowed else "failed")


async def test_the_diary_survives_a_restart_of_its_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCORD_DATA_HOME", str(tmp_path))
    async with accord.connect(agent("diary_agent.py")) as diary:
        id = (session := await diary.new_session()).id
        await session.prompt("rain")
    async with accord.connect(agent("diary_agent.py")) as diary:
        again = await diary.load_session(id)
    assert again.transcript.title == "About rain"
    assert again.transcript.text == "Saved: rain"


def test_the_minimal_client_prints_the_answer(tmp_path: Path) -> None:
    assert run("minimal_client.py", cwd=tmp_path) == "You said: Hello, agent!\n"
    assert run("minimal_client.py", *agent("echo_agent.py"), cwd=tmp_path) == "You said: Hello, agent!\n"


def test_the_minimal_client_has_ten_lines() -> None:
    code = (EXAMPLES / "minimal_client.py").read_text(encoding="utf-8").partition("import accord\n")[2]
    assert len([line for line in code.splitlines() if line.strip()]) <= 10


def test_the_streaming_client_shows_the_turn_as_it_happens(tmp_path: Path) -> None:
    printed = run("streaming_client.py", *agent("tour_agent.py"), "--fast", cwd=tmp_path)
    expected = [
        "  [~] Read hello.py\n  [ ] Correct the greeting\n",
        "A letter seems to be missing.",
        "[~] read: Read hello.py\n",
        "[x] read: Read hello.py\n",
        "[x] edit: Change one line of hello.py\n",
        '-print("Helo, world")\n+print("Hello, world")\n',
        "Done: hello.py now greets the world",
        "  [x] Say what changed\n",
        "The turn ended with end_turn, after 2 tool calls.\n",
        'hello.py: print("Hello, world")\n',
    ]
    assert_in_order(printed, expected)


def test_extension_methods_work_both_ways(tmp_path: Path) -> None:
    assert run("extension_method.py", cwd=tmp_path).splitlines() == [
        "the agent counted 4 words",
        "the agent is looking for the open book",
        "You are reading Middlemarch, page 81.",
        "refused: _example.org/burn: Method not found: _example.org/burn (code -32601)",
    ]


@pytest.mark.req("V1-FRAME-15", "V2-FRAME-09")
def test_a_custom_transport_joins_two_processes(tmp_path: Path) -> None:
    said, ended = run("custom_transport.py", cwd=tmp_path).splitlines()
    assert said.startswith("You said: hello over a socket (I am process ")
    assert ended == "the agent ended with status 0"


TOLD = [
    "you      Correct the greeting in hello.py, please.\n",
    "plan     ◐ Read hello.py\n         ○ Correct the greeting\n         ○ Say what changed\n",
    "thinks   A letter seems to be missing. I had better look first.\n",
    "tool     ◐ read: Read hello.py, in progress\n         ● read: Read hello.py, completed\n",
    "tool     ◐ edit: Change one line of hello.py, in progress\n",
    '             -print("Helo, world")\n             +print("Hello, world")\n',
]


def test_the_tour_shows_plan_thoughts_tools_permission_and_answer(tmp_path: Path) -> None:
    printed = run("tour.py", "--fast", cwd=tmp_path)
    expected = [
        *TOLD,
        "asks     Change one line of hello.py? Allowed, as there is no terminal to ask at.\n",
        "tool     ● edit: Change one line of hello.py, completed\n",
        "agent    Done: hello.py now greets the world",
        "plan     ● Say what changed\n",
        'The turn ended with end_turn; hello.py now reads print("Hello, world")\n',
    ]
    assert_in_order(printed, expected)
    assert printed.splitlines()[-1].startswith("Next: ")
    assert "\x1b" not in printed
    assert list(tmp_path.iterdir()) == []


def test_the_tour_needs_no_utf_8(tmp_path: Path) -> None:
    assert "plan     ? Read hello.py\n" in run("tour.py", "--fast", cwd=tmp_path, PYTHONIOENCODING="ascii")


def test_the_tour_asks_at_a_terminal_and_takes_no_for_an_answer(tmp_path: Path) -> None:
    printed = run_at_a_terminal("tour.py", "--fast", cwd=tmp_path, answer="n", NO_COLOR="1")
    expected = [
        *TOLD,
        "asks     Change one line of hello.py? [Y/n] n\n",
        "tool     ✗ edit: Change one line of hello.py, failed\n",
        "agent    As you wish: hello.py stays as it was.",
        'The turn ended with end_turn; hello.py now reads print("Helo, world")\n',
    ]
    assert_in_order(printed, expected)
    assert "\x1b" not in printed


def test_the_tour_is_colored_at_a_terminal_and_takes_enter_for_yes(tmp_path: Path) -> None:
    printed = run_at_a_terminal("tour.py", "--fast", cwd=tmp_path, answer="", TERM="xterm")
    assert '\x1b[32m    +print("Hello, world")\x1b[0m' in printed
    assert 'hello.py now reads print("Hello, world")\n' in printed


def run_at_a_terminal(name: str, *arguments: str, cwd: Path, answer: str, **environment: str) -> str:
    """Run an example on a terminal, answer its question, and return its output."""
    pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")
    ours, theirs = pty.openpty()
    inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLES / name), *arguments],
        cwd=cwd,
        env={**inherited, "PYTHONIOENCODING": "utf-8", **environment},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        printed = read_until(ours, b"[Y/n]")
        os.write(ours, answer.encode() + b"\n")
        printed += read_until(ours, None)
        assert process.wait(TIMEOUT_SECONDS) == 0, printed
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return printed.decode().replace("\r\n", "\n")


def read_until(descriptor: int, word: bytes | None) -> bytes:
    """Read until this word, or until the end."""
    read = b""
    until = time.monotonic() + TIMEOUT_SECONDS
    while word is None or word not in read:
        assert select.select([descriptor], [], [], until - time.monotonic())[0], f"no {word!r} in {read!r}"
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:  # the terminal was closed
            chunk = b""
        if not chunk:
            assert word is None, f"no {word!r} in {read!r}"
            return read
        read += chunk
    return read


def assert_in_order(text: str, parts: list[str]) -> None:
    """Return whether the parts occur in this order."""
    at = 0
    for part in parts:
        found = text.find(part, at)
        assert found >= 0, f"{part!r} does not come after {text[:at]!r} in\n{text}"
        at = found + len(part)
