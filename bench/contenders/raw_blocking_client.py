"""Blocking msgspec as a client."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from typing import Any

import raw_wire as wire
import workload
from measure import Stopwatch, percentiles, report, rss, settled_rss
from raw_blocking import Pipe

WORKLOAD, COUNT, AGENT = sys.argv[1], int(sys.argv[2]), sys.argv[3:]


class Bench:
    """The workloads; each returns what its line says."""

    def __init__(self, pipe: Pipe) -> None:
        self.pipe = pipe
        self.session = ""
        self.updates = 0
        self.letters = 0
        self.kept: list[Any] | None = None

    def serve(self, message: wire.Envelope) -> None:
        """Deals with what the agent asks or tells."""
        method = message.method
        assert method is not None
        params = wire.params[method](message.params)
        if method == "session/update":
            update = params.update
            self.updates += 1
            if self.kept is not None:
                self.kept.append(params)
            elif type(update) is wire.AgentMessageChunk:
                self.letters += len(update.content.text)
        elif method == "session/request_permission":
            chosen = next(option for option in params.options if option.kind == "allow_once")
            self.reply(message, wire.Permitted(wire.Selected(chosen.option_id)))
        else:
            self.reply(message, wire.FileContent(workload.READ))

    def reply(self, message: wire.Envelope, result: Any) -> None:
        self.pipe.send(wire.Answer(message.id or 0, result))
        self.pipe.flush()

    def call(self, method: str, params: Any) -> Any:
        self.pipe.request(method, params)
        self.pipe.flush()
        for message in self.pipe.incoming:
            if message.method is None:
                return self.pipe.result(message)
            self.serve(message)
        raise EOFError

    def new_session(self) -> str:
        id: str = self.call("session/new", wire.NewSession("/project", [])).session_id
        return id

    def prompt(self, text: str) -> None:
        self.call("session/prompt", wire.Prompt(self.session, [wire.Text(text)]))

    def ping(self) -> None:
        self.call("session/set_mode", wire.SetMode(self.session, "code"))

    def send_pipelined(self, count: int) -> None:
        params = wire.SetMode(self.session, "code")
        count = count // workload.IN_FLIGHT * workload.IN_FLIGHT
        for _ in range(workload.IN_FLIGHT):
            self.pipe.request("session/set_mode", params)
        self.pipe.flush()
        left = count - workload.IN_FLIGHT
        for _ in range(count):  # an answer makes room for the next request
            self.pipe.result(next(self.pipe.incoming))
            if left:
                left -= 1
                self.pipe.request("session/set_mode", params)

    def turn(
        self, text: str, times: int = 1, warm_up: tuple[str, ...] = (f"stream {workload.WARM_UP}",)
    ) -> dict[str, Any]:
        for words in warm_up:
            self.prompt(words)
        self.updates = self.letters = 0
        with Stopwatch() as watch:
            for _ in range(times):
                self.prompt(text)
        return {**watch.times(), "updates": self.updates, "letters": self.letters}

    def W1(self) -> dict[str, Any]:
        return self.turn(f"stream {COUNT}")

    def W1t(self) -> dict[str, Any]:
        return self.turn(f"tokens {COUNT}")

    def W2(self) -> dict[str, Any]:
        times = []
        for _ in range(workload.WARM_UP):
            self.ping()
        with Stopwatch() as watch:
            for _ in range(COUNT):
                start = time.perf_counter()
                self.ping()
                times.append(time.perf_counter() - start)
        return {**watch.times(), **percentiles(times)}

    def W3(self) -> dict[str, Any]:
        self.send_pipelined(workload.WARM_UP)
        with Stopwatch() as watch:
            self.send_pipelined(COUNT)
        return {**watch.times()}

    def W4(self) -> dict[str, Any]:
        return self.turn("mixed", COUNT, ("mixed", "mixed"))

    def W5(self) -> dict[str, Any]:
        text = workload.blob(COUNT)
        with Stopwatch() as there:
            self.prompt(text)
        with Stopwatch() as back:
            self.prompt(f"blob {COUNT}")
        return {"prompt": there.wall, "update": back.wall, "both": there.both + back.both, "letters": self.letters}

    def W6(self) -> dict[str, Any]:
        return {}

    def W7(self) -> dict[str, Any]:
        handshake = rss()
        self.prompt(f"stream {workload.WARM_UP}")
        self.kept = []
        before = settled_rss()
        self.prompt(f"stream {COUNT}")
        return {"rss": handshake, "kept": (settled_rss() - before) / len(self.kept)}

    def W8(self) -> dict[str, Any]:
        sessions = [self.new_session() for _ in range(COUNT)]
        self.prompt(f"stream {workload.WARM_UP}")
        text = [wire.Text(f"stream {workload.UPDATES_PER_SESSION}")]
        self.updates = self.letters = 0
        with Stopwatch() as watch:
            asked = bytearray()
            for id in sessions:
                number, self.pipe.next_id = self.pipe.next_id, self.pipe.next_id + 1
                self.pipe.asked[number] = "session/prompt"
                request = wire.Request(number, "session/prompt", wire.Prompt(id, text))
                wire.encoder.encode_into(request, asked, -1)
                asked += wire.END
            self.all_answers(asked, len(sessions))
        return {**watch.times(), "updates": self.updates, "letters": self.letters}

    def all_answers(self, asked: bytearray, wanted: int) -> None:
        """Writes and reads as the pipes allow: neither side may wait for the other to read first."""
        reader, writer, lines, written = self.pipe.reader, self.pipe.writer, wire.Lines(), 0
        os.set_blocking(writer, False)
        while wanted:
            unsent = [writer] if written < len(asked) else []
            readable, writable, _ = select.select([reader], unsent, [])
            if writable:
                written += os.write(writer, asked[written : written + wire.CHUNK])
            if readable:
                for line in lines.feed(os.read(reader, wire.CHUNK)):
                    message = wire.envelope(line)
                    if message.method is None:
                        self.pipe.result(message)
                        wanted -= 1
                    else:
                        self.serve(message)
        os.set_blocking(writer, True)


def main() -> None:
    agent = subprocess.Popen(AGENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert agent.stdin is not None
    assert agent.stdout is not None
    bench = Bench(Pipe(agent.stdout.fileno(), agent.stdin.fileno()))
    bench.call("initialize", wire.Initialize(1))
    if WORKLOAD != "W6":
        bench.session = bench.new_session()
    report(**getattr(bench, WORKLOAD)())
    agent.stdin.close()
    agent.wait()


if __name__ == "__main__":
    main()
