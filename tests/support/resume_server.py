"""A server that follows the resume extension, without I/O: one event log per session, keys, and open agent requests.

The tests of `accord.remote` use it where the real hub would hide which line does what. Events aren't made by an agent
but by the test (`emit`, `ask`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

Lines = list[dict[str, Any]]


class Link:
    """One connection of the client. Lines for the client are collected in `out`."""

    def __init__(self) -> None:
        self.out: Lines = []
        self.attached: set[str] = set()
        self.ids: dict[int, str] = {}
        self.on_send: Callable[[], None] = lambda: None

    def send(self, **fields: Any) -> None:
        self.out.append({"jsonrpc": "2.0", **fields})
        self.on_send()


class ResumeServer:
    """The state of one server."""

    def __init__(self, *, epoch: str = "e1", version: int = 1, supports_resuming: bool = True) -> None:
        self.epoch = epoch
        self.version = version
        self.supports_resuming = supports_resuming
        self.oldest = 0
        """Cursors before this one are too old."""
        self.logs: dict[str, Lines] = {}
        self.responses: dict[str, dict[str, Any]] = {}
        self.executed: list[tuple[str, dict[str, Any]]] = []
        """The method and parameters of everything that was executed, in order."""
        self.questions: dict[str, dict[str, Any]] = {}
        self.answers: list[tuple[str, Any]] = []
        self.link: Link | None = None
        self.running: dict[str, tuple[int | str, str]] = {}
        self._next_id = 0

    def connect(self) -> Link:
        self.link = Link()
        return self.link

    # -- what the test lets happen

    def emit(self, session: str, text: str) -> None:
        """Log an event and send it."""
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
        self._log(session, {"method": "session/update", "params": {"sessionId": session, "update": update}})

    def ask(self, session: str, stable_id: str) -> None:
        """Log a request of the agent and send it."""
        self.questions[stable_id] = {"sessionId": session, "_meta": {"accord/request": stable_id}}
        self._log(session, {"question": stable_id})

    def finish(self, key: str, **result: Any) -> None:
        """Answer a prompt."""
        self.responses[key] = {"result": result}
        id, _ = self.running.pop(key)
        if self.link is not None:
            self.link.send(id=id, **self.responses[key])

    def _log(self, session: str, event: dict[str, Any]) -> None:
        log = self.logs.setdefault(session, [])
        log.append(event)
        if self.link is not None and session in self.link.attached:
            self._deliver(self.link, session, len(log))

    def _deliver(self, link: Link, session: str, number: int) -> None:
        event = self.logs[session][number - 1]
        cursor = f"{self.epoch}.{number}"
        if "question" not in event:
            params = {**event["params"], "_meta": {"accord/cursor": cursor}}
            link.send(method=event["method"], params=params)
        elif event["question"] in self.questions:
            self._deliver_question(link, event["question"], cursor)

    def _deliver_question(self, link: Link, stable_id: str, cursor: str) -> None:
        if stable_id in link.ids.values():
            return
        number = len(link.ids)
        link.ids[number] = stable_id
        params = self.questions[stable_id]
        meta = {**params["_meta"], "accord/cursor": cursor}
        link.send(id=number, method="session/request_permission", params={**params, "_meta": meta})

    # -- what the client sends

    def receive(self, link: Link, line: bytes) -> None:
        """Handle one line of the client. Lines of a lost connection are ignored by the caller."""
        message = msgspec.json.decode(line)
        method, params, id = message.get("method"), message.get("params", {}), message.get("id")
        if method is None:
            self._receive_answer(link, id, message)
        elif method == "initialize":
            meta = {"accord/resume": {}} if self.supports_resuming else {}
            link.send(id=id, result={"protocolVersion": self.version, "_meta": meta})
        elif method == "_accord/ping":
            link.send(id=id, result={})
        else:
            self._execute_once(link, method, params, id)

    def _receive_answer(self, link: Link, id: int, message: dict[str, Any]) -> None:
        stable_id = link.ids[id]
        if stable_id in self.questions:
            del self.questions[stable_id]
            self.answers.append((stable_id, message.get("result", message.get("error"))))

    def _execute_once(self, link: Link, method: str, params: dict[str, Any], id: int | str | None) -> None:
        key = params["_meta"]["accord/key"]
        if key in self.responses:
            if id is not None:
                link.send(id=id, **self.responses[key])
        elif key in self.running:
            assert id is not None
            self.running[key] = (id, self.running[key][1])
        else:
            self._execute(link, method, params, id, key)

    def _execute(self, link: Link, method: str, params: dict[str, Any], id: int | str | None, key: str) -> None:
        if method != "session/resume":
            self.executed.append((method, params))
        session = params.get("sessionId", "")
        match method:
            case "session/new":
                self._next_id += 1
                session = f"s{self._next_id}"
                self.logs[session] = []
                link.attached.add(session)
                meta = {"accord/cursor": f"{self.epoch}.0"}
                self.responses[key] = {"result": {"sessionId": session, "_meta": meta}}
                link.send(id=id, **self.responses[key])
            case "session/load":
                self._replay(link, session, 0)
                link.send(id=id, result={"_meta": {"accord/cursor": self.cursor(session)}})
            case "session/resume":
                self._resume(link, session, params)
                link.send(id=id, result={"_meta": {"accord/cursor": self.cursor(session)}})
            case "session/prompt":
                assert id is not None
                self.running[key] = (id, session)
            case _:
                self.responses[key] = {"result": {}}
                if id is not None:
                    link.send(id=id, result={})

    def cursor(self, session: str) -> str:
        return f"{self.epoch}.{len(self.logs[session])}"

    def _resume(self, link: Link, session: str, params: dict[str, Any]) -> None:
        after = params["replayFrom"]["id"] if self.version == 2 else params["_meta"]["accord/after"]
        epoch, _, number = after.rpartition(".")
        if epoch != self.epoch or int(number) < self.oldest:
            snapshot = {"sessionId": session, "cursor": self.cursor(session)}
            link.send(method="_accord/snapshot", params=snapshot)
            number = "0"
        self._replay(link, session, int(number))
        for index, event in enumerate(self.logs[session], 1):
            if event.get("question") in self.questions:
                self._deliver_question(link, event["question"], f"{self.epoch}.{index}")

    def _replay(self, link: Link, session: str, after: int) -> None:
        link.attached.add(session)
        for number in range(after + 1, len(self.logs[session]) + 1):
            self._deliver(link, session, number)
