"""The synchronous client, `accord.sync`."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from accord import Agent, AuthMethod, AuthRequired, Client, LocalProtocolError, MemoryStore, Mode, Text, Turn
from accord.sync import ask, connect
from accord.testing import ScriptedAgent

ECHO = [sys.executable, str(Path(__file__).resolve().parents[1] / "examples" / "echo_agent.py")]


class Noting(ScriptedAgent):
    modes = (Mode(id="ask", name="Ask"), Mode(id="code", name="Code"))

    def __init__(self, *turns: Any) -> None:
        super().__init__(*turns)
        self.store = MemoryStore()

    async def extension_request(self, method: str, params: Any) -> Any:
        return {"method": method, "params": params}


def test_one_question_one_answer() -> None:
    turn = ask(ECHO, "What does this project do?")

    assert turn.text == "You said: What does this project do?"
    assert turn.stop_reason == "end_turn"


def test_the_event_loop_is_closed_when_the_program_ends() -> None:
    # Only asyncio's own loop warns.
    script = f"import sys; sys.modules['uvloop'] = None; from accord.sync import ask; print(ask({ECHO}, 'x').text)"

    done = subprocess.run(
        [sys.executable, "-W", "error", "-X", "dev", "-c", script], capture_output=True, text=True, check=True
    )

    assert done.stdout == "You said: x\n"
    assert "ResourceWarning" not in done.stderr


@pytest.mark.parametrize("version", [1, 2])
def test_a_conversation_without_await(version: int) -> None:
    agent = Noting(["one"], ["two ", "pieces"])
    with connect(agent, versions={version}) as client:
        session = client.new_session("/project")
        first = session.ask("a")
        streamed = [event.text for event in session.stream("b") if isinstance(event, Text)]
        session.set_option("mode", "code")
        listed = [info.id for info in client.list_sessions("/project")]
        answer = client.request("_x/y", {"n": 1})
        mode = session.options[0].value
        session.close()
        again = client.load_session(session.id, "/project")
        text = again.transcript.text
        resumed = client.resume_session(session.id, "/project").ask("c").text

    assert (client.name, client.version) == ("scripted agent", version)
    assert first.text == "one"
    assert streamed == ["two ", "pieces"]
    assert mode == "code"
    assert listed == [session.id]
    assert answer == {"method": "_x/y", "params": {"n": 1}}
    assert text == "two pieces"
    assert resumed == "You said: c"


def test_leaving_the_loop_early_cancels_the_turn() -> None:
    async def wait(turn: Turn) -> None:
        await asyncio.Event().wait()

    with connect(Noting(["first", wait], ["after"])) as client:
        session = client.new_session()
        for event in session.stream("go"):
            if isinstance(event, Text):
                break
        after = session.ask("again")

    assert after.text == "after"


async def test_it_works_where_a_loop_is_running_already() -> None:
    assert ask(Noting(["from a notebook"]), "go").text == "from a notebook"


def test_a_handler_may_block_and_even_ask_again() -> None:
    seen: list[str] = []

    def decide(request: Any) -> bool:
        seen.append(threading.current_thread().name)
        time.sleep(0.01)
        seen.append(client.request("_x/y")["method"])
        return True

    async def danger(turn: Turn) -> None:
        await turn.say("done" if await turn.permit("May I?") else "not done")

    with connect(Noting([danger]), permissions=decide) as client:
        turn = client.new_session().ask("go")

    assert turn.text == "done"
    assert seen[0] != "accord" and seen[1] == "_x/y"


def test_a_handler_that_awaits_is_told_to_do_so() -> None:
    errors: list[str] = []

    async def decide(request: Any) -> bool:
        try:
            client.request("_x/y")
        except LocalProtocolError as error:
            errors.append(str(error))
        return True

    async def danger(turn: Turn) -> None:
        await turn.permit("May I?")

    with connect(Noting([danger]), permissions=decide) as client:
        client.new_session().ask("go")

    assert len(errors) == 1


def test_a_login_may_be_chosen_without_await() -> None:
    class Gated(Agent):
        auth_methods = (AuthMethod(id="key", name="Key"),)
        user = ""

        async def accept_prompt(self, turn: Turn) -> None:
            if not self.user:
                raise AuthRequired("who are you?")

        async def login(self, method_id: str, client: Client) -> None:
            self.user = method_id

        async def logout(self) -> None:
            self.user = ""

        async def prompt(self, turn: Turn) -> None:
            await turn.say(self.user)

    with connect(Gated(), login=lambda methods: methods[0].id) as client:
        session = client.new_session()
        assert session.ask("a").text == "key"
        client.logout()
        client.login("key")
        assert session.ask("b").text == "key"


def test_another_thread_may_cancel() -> None:
    started = threading.Event()

    async def wait(turn: Turn) -> None:
        started.set()
        await asyncio.Event().wait()

    with connect(Noting([wait])) as client:
        session = client.new_session()

        def cancel() -> None:
            started.wait(10)
            session.cancel()

        thread = threading.Thread(target=cancel)
        thread.start()
        turn = session.ask("go")
        thread.join()

    assert turn.stop_reason == "cancelled"


def test_errors_are_raised_where_they_are_asked_for() -> None:
    from accord import LaunchError

    with pytest.raises(LaunchError):
        ask("no-such-agent-anywhere", "hi")
    with connect(Noting()) as client, pytest.raises(Exception, match="no option"):
        client.new_session().set_option("nothing", "x")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent differently there")
def test_an_interrupt_ends_the_question_and_the_agent_with_it(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import asyncio, os\n"
        "from accord import Agent\n"
        "from accord.sync import ask\n"
        "class Slow(Agent):\n"
        "    async def prompt(self, turn):\n"
        "        print('asked', flush=True)\n"
        "        try:\n"
        "            await asyncio.Event().wait()\n"
        "        finally:\n"
        "            print('cancelled', flush=True)\n"
        "try:\n"
        "    ask(Slow(), 'hi')\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    child = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "asked\n"
        child.send_signal(signal.SIGINT)
        rest = child.stdout.read()
        assert child.wait(10) == 0
    finally:
        child.kill()
        child.stdout.close()

    assert rest.splitlines() == ["cancelled", "interrupted"]
