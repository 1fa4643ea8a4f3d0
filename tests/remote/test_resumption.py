"""The bookkeeping of a client that reconnects, line by line."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import msgspec
import pytest
from support.resume_server import Link, ResumeServer

from accord.remote.resumption import LOST_OUTPUT, MAX_UNACKNOWLEDGED, Phase, Resumption


def line(**fields: Any) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", **fields}) + b"\n"


def event(session: str, cursor: str, text: str = "hello") -> bytes:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    params = {"sessionId": session, "update": update, "_meta": {"accord/cursor": cursor}}
    return line(method="session/update", params=params)


def take_sent(state: Resumption) -> list[dict[str, Any]]:
    return [msgspec.json.decode(each) for each in state.take()]


def lines_of(block: bytes) -> list[dict[str, Any]]:
    return [msgspec.json.decode(each) for each in block.splitlines()]


def initialize(*, version: int = 1, resets: bool = True) -> Resumption:
    state = Resumption("c", resets=resets)
    state.send(line(id=0, method="initialize", params={"protocolVersion": version}))
    state.receive(line(id=0, result={"protocolVersion": version, "_meta": {"accord/resume": {}}}))
    state.take()
    return state


def with_session(*, version: int = 1, resets: bool = True, cursor: str = "e.0") -> Resumption:
    state = initialize(version=version, resets=resets)
    state.send(line(id=1, method="session/new", params={"cwd": "/project", "mcpServers": []}))
    state.receive(line(id=1, result={"sessionId": "s", "_meta": {"accord/cursor": cursor}}))
    state.take()
    return state


def reconnect(state: Resumption, *, version: int = 1) -> list[dict[str, Any]]:
    """Cut, connect again up to the answer to initialize; return what the client sends then."""
    state.disconnect()
    state.connect()
    (initialize,) = take_sent(state)
    assert initialize["method"] == "initialize"
    answer = {"protocolVersion": version, "_meta": {"accord/resume": {}}}
    assert state.receive(line(id=initialize["id"], result=answer)) == b""
    return take_sent(state)


def test_initialize_names_the_client_and_keeps_its_other_meta() -> None:
    state = Resumption("c")
    state.send(line(id=0, method="initialize", params={"protocolVersion": 1, "_meta": {"x": 1}}))
    (message,) = take_sent(state)
    assert message["params"]["_meta"] == {"x": 1, "accord/resume": {"client": "c"}}


def test_a_server_that_does_not_know_the_extension_gets_and_gives_lines_unchanged() -> None:
    state = Resumption("c")
    state.send(line(id=0, method="initialize", params={"protocolVersion": 1}))
    request = line(id=7, method="fs/read_text_file", params={"sessionId": "s", "path": "/a"})
    answer = line(id=0, result={"protocolVersion": 1})
    assert state.receive(answer + request) == answer + request
    assert state.is_supported is False
    assert not state.can_reconnect


def test_every_request_and_notification_has_its_own_key() -> None:
    state = initialize()
    state.send(line(id=1, method="session/list") + line(method="session/cancel", params={"sessionId": "s"}))
    assert [each["params"]["_meta"]["accord/key"] for each in take_sent(state)] == ["c:1", "c:2"]


def test_values_keep_their_bytes() -> None:
    state = initialize()
    state.send(b'{"jsonrpc":"2.0","id":1,"method":"_x","params":{"n":1.00,"big":123456789012345678901234567890}}\n')
    (text,) = state.take()
    assert b'"n":1.00,"big":123456789012345678901234567890' in text


def test_new_events_pass_as_the_same_block() -> None:
    state = with_session()
    block = event("s", "e.1") + event("s", "e.2")
    assert state.receive(block) is block


def test_events_that_were_received_are_dropped() -> None:
    state = with_session()
    state.receive(event("s", "e.1", "one"))
    assert state.receive(event("s", "e.1", "one") + event("s", "e.2", "two")) == event("s", "e.2", "two")


def test_each_session_has_its_own_cursor() -> None:
    state = with_session()
    state.receive(event("s", "e.5"))
    assert state.receive(event("child", "e.1")) == event("child", "e.1")


@pytest.mark.parametrize("version", [1, 2])
def test_a_session_is_resumed_after_its_last_event(version: int) -> None:
    state = with_session(version=version)
    state.receive(event("s", "e.1") + event("s", "e.2"))
    (resume,) = reconnect(state, version=version)
    assert resume["method"] == "session/resume"
    assert (resume["params"]["sessionId"], resume["params"]["cwd"]) == ("s", "/project")
    if version == 1:
        assert resume["params"]["_meta"]["accord/after"] == "e.2"
    else:
        assert resume["params"]["replayFrom"] == {"type": "_accord.event", "id": "e.2"}


def test_open_requests_are_sent_again_with_their_keys_when_all_sessions_are_resumed() -> None:
    state = with_session()
    state.send(line(id=2, method="session/prompt", params={"sessionId": "s", "prompt": []}))
    (prompt,) = take_sent(state)
    (resume,) = reconnect(state)
    assert state.phase is Phase.RESUMING
    assert state.receive(event("s", "e.1") + line(id=resume["id"], result={})) == event("s", "e.1")
    assert take_sent(state) == [prompt]


def test_what_is_sent_while_disconnected_waits_for_the_connection() -> None:
    state = with_session()
    state.disconnect()
    state.send(line(id=2, method="session/prompt", params={"sessionId": "s", "prompt": []}))
    assert state.take() == []
    assert state.unsent_bytes > 0
    (resume,) = reconnect(state)
    state.receive(line(id=resume["id"], result={}))
    assert [each["method"] for each in take_sent(state)] == ["session/prompt"]
    assert state.unsent_bytes == 0


def test_answered_requests_are_not_sent_again() -> None:
    state = with_session()
    state.send(line(id=2, method="session/set_mode", params={"sessionId": "s", "modeId": "x"}))
    state.receive(line(id=2, result={}))
    (resume,) = reconnect(state)
    state.receive(line(id=resume["id"], result={}))
    assert take_sent(state) == []


def test_a_second_answer_to_a_request_is_dropped() -> None:
    state = with_session()
    state.send(line(id=2, method="session/set_mode", params={"sessionId": "s", "modeId": "x"}))
    assert state.receive(line(id=2, result={})) == line(id=2, result={})
    assert state.receive(line(id=2, result={})) == b""


def test_notifications_are_sent_again_until_a_later_ping_is_answered() -> None:
    state = with_session()
    state.send(line(method="session/cancel", params={"sessionId": "s"}))
    (resume,) = reconnect(state)
    state.receive(line(id=resume["id"], result={}))
    assert [each["method"] for each in take_sent(state)] == ["session/cancel"]
    state.receive(line(id=state.ping(), result={}))
    (resume,) = reconnect(state)
    state.receive(line(id=resume["id"], result={}))
    assert take_sent(state) == []


def test_the_response_to_a_request_that_may_have_overtaken_a_notification_does_not_acknowledge_it() -> None:
    state = with_session()
    state.send(line(method="session/cancel", params={"sessionId": "s"}))
    state.send(line(id=2, method="session/list", params={}))
    state.receive(line(id=2, result={"sessions": []}))
    (resume,) = reconnect(state)
    state.receive(line(id=resume["id"], result={}))
    assert [each["method"] for each in take_sent(state)] == ["session/cancel"]


def test_many_unacknowledged_notifications_ask_for_an_acknowledgement() -> None:
    state = with_session()
    for _ in range(MAX_UNACKNOWLEDGED):
        state.send(line(method="session/cancel", params={"sessionId": "s"}))
    ping = take_sent(state)[-1]
    assert ping["method"] == "_accord/ping"
    assert state.receive(line(id=ping["id"], error={"code": -32601, "message": "unknown"})) == b""
    (resume,) = reconnect(state)
    state.receive(line(id=resume["id"], result={}))
    assert take_sent(state) == []


def question(id: int, stable_id: str, cursor: str) -> bytes:
    meta = {"accord/request": stable_id, "accord/cursor": cursor}
    return line(id=id, method="session/request_permission", params={"sessionId": "s", "_meta": meta})


def test_a_request_that_is_delivered_again_is_answered_from_its_first_delivery() -> None:
    state = with_session()
    (asked,) = lines_of(state.receive(question(41, "q", "e.1")))
    (resume,) = reconnect(state)
    assert state.receive(question(0, "q", "e.1") + line(id=resume["id"], result={})) == b""
    take_sent(state)
    state.send(line(id=asked["id"], result={"outcome": "yes"}))
    assert take_sent(state) == [{"jsonrpc": "2.0", "id": 0, "result": {"outcome": "yes"}}]


def test_an_answer_that_was_lost_is_given_again() -> None:
    state = with_session()
    (asked,) = lines_of(state.receive(question(41, "q", "e.1")))
    state.send(line(id=asked["id"], result={"outcome": "yes"}))
    assert [each["id"] for each in take_sent(state)] == [41]
    reconnect(state)
    assert state.receive(question(5, "q", "e.1")) == b""
    assert take_sent(state) == [{"jsonrpc": "2.0", "id": 5, "result": {"outcome": "yes"}}]


def test_an_answer_that_was_lost_is_given_again_although_a_later_request_was_answered() -> None:
    state = with_session()
    (asked,) = lines_of(state.receive(question(41, "q", "e.1")))
    state.send(line(id=asked["id"], result={"outcome": "yes"}))
    state.send(line(id=2, method="session/list", params={}))
    state.receive(line(id=2, result={"sessions": []}))
    reconnect(state)
    assert state.receive(question(5, "q", "e.1")) == b"", "nobody is asked twice"
    assert take_sent(state) == [{"jsonrpc": "2.0", "id": 5, "result": {"outcome": "yes"}}]


def test_an_answer_given_while_disconnected_is_sent_when_the_request_comes_again() -> None:
    state = with_session()
    (asked,) = lines_of(state.receive(question(41, "q", "e.1")))
    state.disconnect()
    state.send(line(id=asked["id"], result={"outcome": "yes"}))
    assert state.take() == []
    reconnect(state)
    state.receive(question(5, "q", "e.1"))
    assert [each["id"] for each in take_sent(state)] == [5]


def test_two_requests_with_the_same_wire_id_on_two_connections_have_different_ids_above() -> None:
    state = with_session()
    (first,) = lines_of(state.receive(question(0, "q1", "e.1")))
    reconnect(state)
    (second,) = lines_of(state.receive(question(0, "q2", "e.2")))
    assert first["id"] != second["id"]


def test_a_request_that_does_not_come_again_is_cancelled_above() -> None:
    state = with_session()
    (asked,) = lines_of(state.receive(question(41, "q", "e.1")))
    (resume,) = reconnect(state)
    state.receive(line(id=resume["id"], result={}))
    (ping,) = take_sent(state)
    (cancel,) = lines_of(state.receive(line(id=ping["id"], result={})))
    assert (cancel["method"], cancel["params"]) == ("$/cancel_request", {"requestId": asked["id"]})


def test_a_cancellation_names_the_request_as_it_is_known_above() -> None:
    state = with_session()
    (asked,) = lines_of(state.receive(question(41, "q", "e.1")))
    (cancel,) = lines_of(state.receive(line(method="$/cancel_request", params={"requestId": 41})))
    assert cancel["params"] == {"requestId": asked["id"]}
    assert state.receive(line(method="$/cancel_request", params={"requestId": 99})) == b""


def test_a_request_that_another_client_answered_is_cancelled_above() -> None:
    state = with_session()
    (asked,) = lines_of(state.receive(question(41, "q", "e.1")))
    resolved = line(method="_accord/permission_resolved", params={"sessionId": "s", "request": "q"})
    _, cancel = lines_of(state.receive(resolved))
    assert (cancel["method"], cancel["params"]) == ("$/cancel_request", {"requestId": asked["id"]})


def test_a_session_whose_creation_was_answered_on_a_lost_connection_is_resumed_from_its_start() -> None:
    state = initialize()
    state.send(line(id=1, method="session/new", params={"cwd": "/project", "mcpServers": []}))
    (new,) = take_sent(state)
    assert reconnect(state) == [new]
    state.receive(line(id=1, result={"sessionId": "s", "_meta": {"accord/cursor": "e.0"}}))
    (resume,) = take_sent(state)
    assert (resume["method"], resume["params"]["_meta"]["accord/after"]) == ("session/resume", "e.0")


def test_a_load_that_had_sent_nothing_is_sent_again_with_a_new_key() -> None:
    state = initialize()
    state.send(line(id=1, method="session/load", params={"sessionId": "s", "cwd": "/project", "mcpServers": []}))
    (load,) = take_sent(state)
    (again,) = reconnect(state)
    assert again["method"] == "session/load"
    assert again["params"]["_meta"]["accord/key"] != load["params"]["_meta"]["accord/key"]


def test_a_load_that_had_begun_is_continued_and_answered() -> None:
    state = initialize()
    state.send(line(id=1, method="session/load", params={"sessionId": "s", "cwd": "/project", "mcpServers": []}))
    take_sent(state)
    state.receive(event("s", "e.1"))
    (resume,) = reconnect(state)
    assert resume["params"]["_meta"]["accord/after"] == "e.1"
    above = state.receive(event("s", "e.2") + line(id=resume["id"], result={"modes": None}))
    assert above == event("s", "e.2") + line(id=1, result={"modes": None})
    assert take_sent(state) == []


def test_a_load_of_an_open_session_replays_events_that_were_received() -> None:
    state = with_session()
    state.receive(event("s", "e.1"))
    state.send(line(id=2, method="session/load", params={"sessionId": "s", "cwd": "/project", "mcpServers": []}))
    assert state.receive(event("s", "e.1")) == event("s", "e.1")
    state.receive(line(id=2, result={}))
    assert state.receive(event("s", "e.1")) == b""


def test_a_closed_session_is_not_resumed() -> None:
    state = with_session()
    state.send(line(id=2, method="session/close", params={"sessionId": "s"}))
    state.receive(line(id=2, result={}))
    take_sent(state)
    assert reconnect(state) == []
    assert state.phase is Phase.LIVE


def test_a_snapshot_and_its_end_are_announced_above() -> None:
    state = with_session()
    state.receive(event("s", "e.1"))
    (resume,) = reconnect(state)
    snapshot = line(method="_accord/snapshot", params={"sessionId": "s", "cursor": "f.1"})
    above = lines_of(state.receive(snapshot + event("s", "f.1") + line(id=resume["id"], result={})))
    assert [each["method"] for each in above] == ["_accord/snapshot", "session/update", "_accord/snapshot_end"]
    assert state.receive(event("s", "f.1")) == b""


def test_an_editor_gets_a_sentence_instead_of_a_snapshot() -> None:
    state = with_session(resets=False)
    (resume,) = reconnect(state)
    snapshot = line(method="_accord/snapshot", params={"sessionId": "s", "cursor": "f.1"})
    (notice,) = lines_of(state.receive(snapshot + event("s", "f.1") + line(id=resume["id"], result={})))
    assert notice["params"]["update"]["content"]["text"] == LOST_OUTPUT
    assert state.receive(event("s", "f.2")) == event("s", "f.2")


def test_a_server_that_stopped_supporting_resume_is_refused() -> None:
    state = with_session()
    state.disconnect()
    state.connect()
    (initialize,) = take_sent(state)
    state.receive(line(id=initialize["id"], result={"protocolVersion": 1}))
    assert state.refusal == "the server no longer supports resuming"
    assert not state.can_reconnect


def test_lines_that_are_not_messages_pass() -> None:
    state = with_session()
    block = b"hello\n" + event("s", "e.1") + b"[1]\n"
    assert state.receive(block) == block


# -- a model: any cuts, anywhere


class World:
    """An endpoint, its bookkeeping, a server, and the lines on their way. Cuts lose everything on its way."""

    def __init__(self, cuts: set[int], version: int) -> None:
        self.cuts = cuts
        self.server = ResumeServer(version=version)
        self.state = Resumption("c")
        self.link: Link = self.server.connect()
        self.up: deque[bytes] = deque()
        self.texts: list[str] = []
        self.questions: list[str] = []
        self.results: list[int] = []
        self.delivered = 0
        self.next_id = 0
        self.prompts = 0
        self.is_done = False
        self.reacted: set[Any] = set()

    def run(self) -> None:
        self.call("initialize", protocolVersion=self.server.version)
        while not self.is_done:
            self.step()

    def call(self, method: str, **params: Any) -> None:
        self.state.send(line(id=self.next_id, method=method, params=params))
        self.next_id += 1

    def step(self) -> None:
        self.up.extend(self.state.take())
        self.react()
        if self.delivered in self.cuts:
            self.cuts.discard(self.delivered)
            self.cut()
        elif self.up:
            self.delivered += 1
            self.server.receive(self.link, self.up.popleft())
        elif self.link.out:
            self.delivered += 1
            for message in lines_of(self.state.receive(msgspec.json.encode(self.link.out.pop(0)) + b"\n")):
                self.receive(message)
        else:
            raise AssertionError("nothing moves")

    def cut(self) -> None:
        self.up.clear()
        self.link = self.server.connect()
        self.state.disconnect()
        self.state.connect()

    def react(self) -> None:
        """The agent: words and a question for each prompt, more words after the answer, then the end."""
        for key, (_, session) in list(self.server.running.items()):
            stable_id = f"q{key}"
            if key not in self.reacted:
                self.reacted.add(key)
                for word in "abc":
                    self.server.emit(session, f"{session}{word}")
                self.server.ask(session, stable_id)
            elif stable_id in dict(self.server.answers) and (key, "end") not in self.reacted:
                self.reacted.add((key, "end"))
                self.server.emit(session, f"{session}d")
                self.server.finish(key, stopReason="end_turn")

    def receive(self, message: dict[str, Any]) -> None:
        """The endpoint: two sessions, two prompts in each, every question answered."""
        if message.get("method") == "session/update":
            self.texts.append(message["params"]["update"]["content"]["text"])
        elif "method" in message:
            self.questions.append(message["params"]["_meta"]["accord/request"])
            self.state.send(line(id=message["id"], result={"ok": True}))
        else:
            self.results.append(message["id"])
            self.go_on(len(self.results))

    def go_on(self, answered: int) -> None:
        match answered:
            case 1 | 2:
                self.call("session/new", cwd="/project", mcpServers=[])
            case 3 | 4 | 5 | 6:
                session = "s1" if answered % 2 else "s2"
                self.state.send(line(method="session/cancel", params={"sessionId": session}))
                self.call("session/prompt", sessionId=session, prompt=[])
            case 7:
                self.call("session/load", sessionId="s1", cwd="/project", mcpServers=[])
            case 8:
                self.call("session/close", sessionId="s1")
            case 9:
                self.is_done = True

    def check(self) -> None:
        turn = [f"{session}{word}" for session in ("s1", "s2") for word in "abcd"]
        replay = [f"s1{word}" for word in "abcdabcd"]
        assert self.texts == [*turn, *turn, *replay], "lost, repeated or reordered"
        assert len(self.questions) == len(set(self.questions)) == 4
        assert self.results == list(range(9))
        assert len(self.server.answers) == 4
        done = [method for method, _ in self.server.executed if method != "session/load"]
        expected = ["session/new", "session/new", *["session/cancel", "session/prompt"] * 4, "session/close"]
        assert done == expected


def messages_of_a_world_without_cuts(version: int) -> int:
    world = World(set(), version)
    world.run()
    world.check()
    return world.delivered


@pytest.mark.parametrize("version", [1, 2])
def test_a_cut_before_any_message_loses_repeats_and_reorders_nothing(version: int) -> None:
    for index in range(1, messages_of_a_world_without_cuts(version) + 1):
        world = World({index}, version)
        world.run()
        world.check()


@pytest.mark.parametrize("seed", range(40))
def test_many_cuts_lose_repeat_and_reorder_nothing(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(10):
        world = World(set(chance.sample(range(1, 150), chance.randint(2, 12))), chance.choice([1, 2]))
        world.run()
        world.check()


@pytest.mark.parametrize("id", [[1], {"a": 1}, None, True, 1e300])
def test_a_response_with_an_odd_id_is_ignored(id: Any) -> None:
    state = with_session()
    state.send(line(id=2, method="session/prompt", params={"sessionId": "s", "prompt": []}))

    assert state.receive(line(id=id, result={})) == b""
    assert state.receive(line(id=2, result={})) == line(id=2, result={})


def test_a_cursor_with_too_many_digits_is_ignored() -> None:
    state = with_session()
    odd = event("s", "e." + "9" * 5000)

    assert state.receive(odd) == odd
    assert state.receive(event("s", "e.1")) == event("s", "e.1")
