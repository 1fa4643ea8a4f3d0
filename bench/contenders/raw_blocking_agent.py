"""Blocking msgspec as an agent. Also the one agent that W1t, W6 (client side) and W7 give to every client."""

from __future__ import annotations

import time
from typing import Any

import raw_wire as wire
import workload
from raw_blocking import Pipe

PAUSE = 0.0005  # long enough for any of the clients to have dealt with a token and to sleep again


class BenchAgent:
    def __init__(self, pipe: Pipe) -> None:
        self.pipe = pipe
        self.sessions = 0

    def serve(self) -> None:
        for message in self.pipe.incoming:
            if message.method is not None:
                result = self.answer(message.method, wire.params[message.method](message.params))
                self.pipe.send(wire.Answer(message.id or 0, result))

    def answer(self, method: str, params: Any) -> Any:
        if method == "session/set_mode":
            return wire.Empty()
        if method == "session/prompt":
            return self.prompt(params)
        if method == "session/new":
            self.sessions += 1
            return wire.SessionId(workload.session(self.sessions))
        return wire.Initialized(1)

    def update(self, id: str, update: wire.Update) -> None:
        self.pipe.send(wire.Notification("session/update", wire.SessionNotification(id, update)))

    def ask(self, method: str, params: Any) -> Any:
        self.pipe.request(method, params)
        self.pipe.flush()
        return self.pipe.result(next(self.pipe.incoming))

    def prompt(self, params: wire.Prompt) -> wire.Stopped:
        id = params.session_id
        word, _, rest = params.prompt[0].text[:32].partition(" ")
        if word == "stream":
            for number in range(int(rest)):
                self.update(id, wire.AgentMessageChunk(wire.Text(workload.token(number))))
        elif word == "tokens":
            for number in range(int(rest)):
                self.update(id, wire.AgentMessageChunk(wire.Text(workload.token(number))))
                self.pipe.flush()
                time.sleep(PAUSE)
        elif word == "blob":
            self.update(id, wire.AgentMessageChunk(wire.Text(workload.blob(int(rest)))))
        elif word == "mixed":
            for kind, value in workload.MIXED:
                getattr(self, kind)(id, value)
        return wire.Stopped("end_turn")

    def plan(self, id: str, _: str) -> None:
        self.update(id, wire.Plan([wire.PlanEntry(text, "medium", "pending") for text in workload.PLAN]))

    def thought(self, id: str, text: str) -> None:
        self.update(id, wire.AgentThoughtChunk(wire.Text(text)))

    def chunk(self, id: str, text: str) -> None:
        self.update(id, wire.AgentMessageChunk(wire.Text(text)))

    def tool(self, id: str, number: str) -> None:
        call, path = f"call-{number}", workload.path(number)
        where = [wire.Location(path, 1)]
        self.update(id, wire.ToolCall(call, f"Edit file {number}", kind="edit", status="pending", locations=where))
        self.update(id, wire.ToolCallUpdate(call, status="in_progress"))
        self.update(id, wire.ToolCallUpdate(call, content=[wire.Diff(path, workload.NEW, workload.OLD)]))
        self.update(id, wire.ToolCallUpdate(call, status="completed"))

    def permission(self, id: str, number: str) -> None:
        options = [wire.Option("yes", "Allow", "allow_once"), wire.Option("no", "Reject", "reject_once")]
        call = wire.ToolFields(f"call-{number}", f"Edit file {number}")
        answer = self.ask("session/request_permission", wire.Permission(id, call, options))
        assert answer.outcome.option_id == "yes"

    def read(self, id: str, number: str) -> None:
        file = self.ask("fs/read_text_file", wire.ReadFile(id, workload.path(number)))
        assert len(file.content) == len(workload.READ)


if __name__ == "__main__":
    BenchAgent(Pipe(0, 1)).serve()
