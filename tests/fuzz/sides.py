"""The two sides under test, each a real one over real bytes, and the checks on them."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random
from typing import Any

from fuzz.corpus import HELLO, to_agent, to_client
from fuzz.hostile import Hostile, Key, count_owed, key_of

import accord
from accord.agent.side import AgentSide
from accord.model.forms import fits
from accord.model.requests import Elicitation, Reply
from accord.testing import ScriptedClient
from accord.transports.memory import MemoryTransport, pair

BOUND = 300.0
QUIET = "_fuzz/quiet"


class Broken(AssertionError):
    """A side violated the protocol; `id` is the request that shows it, if any."""

    def __init__(self, text: str, id: Any = None) -> None:
        super().__init__(text)
        self.id = id


class Chatty(accord.Agent):
    """An agent that uses most of the protocol, however the client reacts."""

    modes = (accord.Mode(id="ask", name="Ask"), accord.Mode(id="code", name="Code"))
    options = (
        accord.Option(
            id="model",
            name="Model",
            value="small",
            choices=[accord.Choice(value="small", name="S"), accord.Choice(value="big", name="B")],
        ),
    )
    auth_methods = (accord.AuthMethod(id="key", name="Key"),)

    def __init__(self) -> None:
        self.turns = 0

    async def login(self, method_id: str, client: accord.Client) -> None:
        pass

    async def prompt(self, turn: accord.Turn) -> None:
        self.turns += 1
        await turn.say(f"You said: {turn.text}")
        if self.turns % 3 == 0:
            async with turn.tool("Read", kind="read", locations=["/p/a.py"]) as tool:
                await tool.show("text")
        if self.turns % 4 == 0:
            await turn.permit("Edit", kind="edit")


class HandPeer:
    """The fuzzer's side: counts the responses, and can answer requests."""

    def __init__(self, transport: MemoryTransport) -> None:
        self.transport = transport
        self.answers: Counter[Key] = Counter()
        self.faults: list[dict[str, Any]] = []
        self.open: list[Any] = []
        transport.start(self)

    def on_lines(self, block: bytes) -> None:
        for line in block.split(b"\n"):
            if line:
                found = json.loads(line)
                for message in found if isinstance(found, list) else [found]:
                    self._take(message)

    def _take(self, message: dict[str, Any]) -> None:
        if "method" in message:
            if "id" in message:
                self.open.append(message)
            return
        self.answers[key_of(message["id"])] += 1
        error = message.get("error")
        if error is not None and error["code"] == -32603:
            self.faults.append(message)

    def on_oversized(self, head: bytes, size: int) -> None:
        self.faults.append({"oversized": size})

    def on_end(self, error: Exception | None) -> None:
        """Record the end of the connection."""

    def close_open(self) -> None:
        """Answer every open request with an error."""
        opened, self.open = self.open, []
        for request in opened:
            refusal = {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "not here"}}
            self.transport.send(json.dumps(refusal).encode() + b"\n")


class Watch(logging.Handler):
    """Errors that reach the event loop or the log during a run."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.escaped: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            text += f": {record.exc_info[1]!r}"
        self.escaped.append(text)

    def __enter__(self) -> Watch:
        logging.getLogger("accord").addHandler(self)
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: self.escaped.append(str(context)))
        return self

    def __exit__(self, *exc: object) -> None:
        logging.getLogger("accord").removeHandler(self)
        asyncio.get_running_loop().set_exception_handler(None)


async def against_agent(random: Random, count: int) -> None:
    """Send `count` lines to an agent, in one connection."""
    version = random.choice([1, 2])
    ours, theirs = pair()
    side = AgentSide(Chatty(), theirs)
    serving = asyncio.ensure_future(side.serve())
    peer = HandPeer(ours)

    async def begin() -> str:
        first = {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": HELLO[version]}
        new = {"jsonrpc": "2.0", "id": "new", "method": "session/new", "params": {"cwd": "/p", "mcpServers": []}}
        await ours.send(json.dumps(first).encode() + b"\n" + json.dumps(new).encode() + b"\n")
        await until(lambda: peer.answers[key_of("new")] == 1)
        return next(iter(side.sessions.open))

    async def end() -> None:
        await ours.close()
        await asyncio.wait_for(serving, BOUND)

    await attack(random, count, peer, begin, end, lambda session: to_agent(version, session), {"hello", "new"})


async def against_client(random: Random, count: int) -> None:
    """Send `count` lines to a client, in one connection."""
    version = random.choice([1, 2])
    ours, theirs = pair()
    peer = HandPeer(ours)
    script: dict[str, Any] = {"files": {"/p/a.py": "a = 1\n"}, "commands": {"ls -l": ("a.py\n", 0)}}
    client = Willing(replies=[{"name": "x"}], **(script if version == 1 else {}))
    connecting = asyncio.ensure_future(_connect(theirs, version, client))
    turns: list[asyncio.Future[Any]] = []

    def reply(result: Any) -> None:
        request = peer.open.pop(0)
        ours.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode() + b"\n")

    async def begin() -> str:
        await until(lambda: peer.open)
        reply(_AGENT[version])
        agent = await asyncio.wait_for(connecting, BOUND)
        making = asyncio.ensure_future(agent.new_session())
        await until(lambda: peer.open)
        reply({"sessionId": "s"})
        session = await asyncio.wait_for(making, BOUND)
        turns.append(asyncio.ensure_future(_turn(session)))
        return "s"

    async def end() -> None:
        agent = await connecting
        await agent.close()
        await ours.close()
        await asyncio.wait(turns, timeout=BOUND)
        if not all(turn.done() for turn in turns):
            raise Broken("a turn has no end")

    await attack(random, count, peer, begin, end, lambda session: to_client(version, session), set())


class Willing(ScriptedClient):
    """Fill in forms that ask for a name, and cancel others."""

    def elicit(self, question: Elicitation) -> Reply | dict[str, Any] | None:
        reply = super().elicit(question)
        required = question.schema.get("required") or ()
        is_fit = isinstance(reply, dict) and all(name in reply for name in required) and fits(question.schema, reply)
        return reply if is_fit else None


async def _connect(transport: MemoryTransport, version: int, client: ScriptedClient) -> Any:
    return await accord.connect(transport, versions={version}, **client.options())


async def _turn(session: Any) -> None:
    with suppress(accord.AccordError):  # hostile responses make turns fail; they only have to end
        await session.prompt("go")


async def attack(
    random: Random,
    count: int,
    peer: HandPeer,
    begin: Callable[[], Awaitable[str]],
    end: Callable[[], Awaitable[None]],
    traffic: Callable[[str], tuple[Any, Any]],
    known: set[str],
) -> None:
    """Run one connection: the handshake, the lines, and the checks."""
    here = {asyncio.current_task()}
    before = asyncio.all_tasks() - here
    must: Counter[Key] = Counter({key_of(id): 1 for id in known})
    may: Counter[Key] = Counter()
    with Watch() as watch:
        hostile = Hostile(random, *traffic(await begin()))
        sent: list[bytes] = []
        rest = b""
        for number in range(count):
            line = hostile.line()
            sent.append(line)
            for total, more in zip((must, may), count_owed(line), strict=True):
                total.update(more)
            rest += line + b"\n"
            if random.random() < 0.2 or number == count - 1:
                # in pieces that end anywhere
                cut = len(rest) if random.random() < 0.5 or number == count - 1 else random.randint(0, len(rest))
                await asyncio.wait_for(_send(peer, rest[:cut]), BOUND)
                rest = rest[cut:]
            if random.random() < 0.1 and not rest:
                peer.close_open()
        try:
            await settle(peer, must)
            check(peer, must, may, watch)
        except Broken as error:
            guilty = [line[:2000] for line in sent if error.id is not None and str(error.id).encode() in line]
            raise Broken(f"{error}; lines with that id: {guilty}; escaped: {watch.escaped[:3]}") from error
        await end()
        await asyncio.sleep(0)
        # tasks of the test runner existed before
        left = {task for task in asyncio.all_tasks() - here - before if not task.done()}
        if left:
            raise Broken(f"left behind: {left}")
        gc.collect()
        if watch.escaped:
            raise Broken(f"escaped: {watch.escaped[:3]}")


async def _send(peer: HandPeer, data: bytes) -> None:
    await peer.transport.send(data)


async def settle(peer: HandPeer, must: Counter[Key]) -> None:
    """Wait until every request that must be answered is."""
    quiet = key_of("quiet")
    must[quiet] += 1
    peer.transport.send(b'{"jsonrpc":"2.0","id":"quiet","method":"%b"}\n' % QUIET.encode())

    def done() -> bool:
        peer.close_open()
        return peer.answers[quiet] == 1 and all(peer.answers[key] >= times for key, times in must.items())

    try:
        await until(done)
    except TimeoutError:
        missing = [key for key, times in must.items() if peer.answers[key] < times]
        raise Broken(f"never answered: {missing[:5]}", missing[0][1]) from None


def check(peer: HandPeer, must: Counter[Key], may: Counter[Key], watch: Watch) -> None:
    """Check that every request has exactly one response, nothing else has one, and no error escaped."""
    for key, times in peer.answers.items():
        if key[0] != "NoneType" and not must[key] <= times <= must[key] + may[key]:
            most = must[key] + may[key]
            raise Broken(f"{key} was answered {times} times and asked {must[key]} to {most} times", key[1])
    if peer.faults:
        raise Broken(f"an input made a handler fail: {peer.faults[0]}", peer.faults[0].get("id"))
    if watch.escaped:
        raise Broken(f"escaped: {watch.escaped[:3]}")


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(BOUND):
        while not condition():  # noqa: ASYNC110  # the condition has no event to wait for
            await asyncio.sleep(0)


_AGENT: dict[int, dict[str, Any]] = {
    1: {"protocolVersion": 1, "agentCapabilities": {"loadSession": True, "sessionCapabilities": {"close": {}}}},
    2: {"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": {"session": {"prompt": {}}}},
}
