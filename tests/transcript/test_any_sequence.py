"""Any updates in any order: never an exception, and always what the slow, plain way makes of them."""

from __future__ import annotations

import base64
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transcript import reference
from transcript.update_builders import Telling, decode

from accord.schema import v1 as wire_v1
from accord.schema import v2 as wire_v2
from accord.schema.repair import Unreadable
from accord.schema.shape import Other
from accord.transcript import v1 as fold_v1
from accord.transcript import v2 as fold_v2
from accord.transcript.events import Event

Strategy = st.SearchStrategy[Any]

_ids = st.sampled_from(["a", "b"])
_words = st.text("xyz ", max_size=3)
_blocks = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": _words}),
    st.just({"type": "image", "data": "aGk=", "mimeType": "image/png"}),
)
_metas = st.dictionaries(st.sampled_from("kl"), st.one_of(st.none(), st.integers(0, 9)), max_size=2)
_states = st.sampled_from(["idle", "running", "requires_action", "unknown", "_x"])
_bytes = st.binary(max_size=4).map(lambda data: base64.b64encode(data).decode())
_entries = st.lists(
    st.fixed_dictionaries({"content": _words, "priority": st.just("low"), "status": st.just("pending")}), max_size=2
)


def _update(kind: str, required: dict[str, Strategy] | None = None, /, **optional: Strategy) -> Strategy:
    """An update whose optional fields are left out, null or a value."""
    fields = {key: st.none() | value for key, value in optional.items()}
    return st.fixed_dictionaries({"sessionUpdate": st.just(kind), **(required or {})}, optional=fields)


def _item(wrapped: Strategy) -> Strategy:
    return wrapped.map(lambda block: {"type": "content", "content": block})


_STATUS = st.sampled_from(["pending", "in_progress", "completed", "failed"])
_TOOL: dict[str, Any] = {
    "title": _words,
    "kind": st.sampled_from(["read", "other"]),
    "status": _STATUS,
    "content": st.lists(_item(_blocks), max_size=2),
    "rawInput": st.integers(1, 3),
    "_meta": _metas,
}
_COST = st.fixed_dictionaries({"amount": st.integers(0, 3), "currency": st.just("EUR")})
_CANCEL = st.sampled_from([{}, {"cancel": {}}])
_CHILD_STATE = st.fixed_dictionaries({"state": _states}, optional={"stopReason": st.sampled_from(["end_turn", "_y"])})

_BOTH = [
    _update("tool_call_update", {"toolCallId": _ids}, **_TOOL),
    _update("plan_removed", {"planId": st.sampled_from(["a", "main"])}),
    _update("session_info_update", title=_words, _meta=_metas),
    _update("usage_update", {"used": st.integers(0, 9), "size": st.just(9)}, cost=_COST),
    _update("notice", {"severity": st.just("info"), "title": st.text("xyz", min_size=1, max_size=3)}),
    _update(
        "compaction_update",
        {"compactionId": _ids, "status": st.sampled_from(["in_progress", "completed", "_z"])},
        summary=st.lists(_blocks, max_size=2),
        error=_words,
    ),
    _update("compaction_summary_chunk", {"compactionId": _ids, "content": _blocks}),
    _update(
        "subagent_update", {"sessionId": _ids}, title=_words, state=_CHILD_STATE, capabilities=_CANCEL, _meta=_metas
    ),
    _update("session_message", {"messageId": _ids}, senderSessionId=_ids, content=st.lists(_blocks, max_size=2)),
    _update("session_message_chunk", {"messageId": _ids, "content": _blocks}),
    _update("_future", anything=st.integers()),
]
_CHUNKS = ["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"]

_V1 = st.one_of(
    # Chunks first and more than once: how they run together is the subtle part.
    *[_update(kind, {"content": _blocks}, messageId=_ids) for kind in _CHUNKS],
    *[_update(kind, {"content": _blocks}) for kind in _CHUNKS],
    # Null is not allowed in an announcement, and reads as left out.
    st.fixed_dictionaries(
        {"sessionUpdate": st.just("tool_call"), "toolCallId": _ids, **{k: v for k, v in _TOOL.items() if k == "title"}},
        optional={k: v for k, v in _TOOL.items() if k != "title"},
    ),
    _update("plan", {"entries": _entries}),
    _update(
        "available_commands_update",
        {"availableCommands": st.lists(st.fixed_dictionaries({"name": _words, "description": _words}), max_size=2)},
    ),
    *_BOTH,
)
_BACKGROUND = st.lists(
    st.sampled_from(
        [{"type": "terminal", "terminalId": "a"}, {"type": "_timer"}, {"type": "tool_call", "toolCallId": "a"}]
    )
)
_V2 = st.one_of(
    *[_update(kind, {"messageId": _ids, "content": _blocks}, _meta=_metas) for kind in _CHUNKS],
    *[
        _update(kind, {"messageId": _ids}, content=st.lists(_blocks, max_size=2), _meta=_metas)
        for kind in ("user_message", "agent_message", "agent_thought")
    ],
    _update("tool_call_update", {"toolCallId": _ids}, capabilities=_CANCEL, status=st.sampled_from(["paused", "_x"])),
    _update("tool_call_content_chunk", {"toolCallId": _ids, "content": _item(_blocks)}, _meta=_metas),
    _update(
        "terminal_update",
        {"terminalId": _ids},
        command=_words,
        output=_bytes.map(lambda data: {"data": data}),
        exitStatus=st.sampled_from([{}, {"exitCode": -1}]),
        _meta=_metas,
    ),
    _update("terminal_output_chunk", {"terminalId": _ids, "data": _bytes}),
    _update("state_update", {"state": _states}, stopReason=st.sampled_from(["end_turn", "_y"]), background=_BACKGROUND),
    _update(
        "plan_update",
        {"plan": st.fixed_dictionaries({"type": st.just("items"), "planId": _ids, "entries": _entries})},
    ),
    *_BOTH,
)


@pytest.mark.parametrize(("version", "updates"), [(1, _V1), (2, _V2)], ids=["v1", "v2"])
def test_a_fold_sees_what_the_plain_way_sees(version: int, updates: Strategy) -> None:
    @settings(max_examples=150, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(updates, max_size=12))
    def check(sequence: list[Any]) -> None:
        telling = Telling(version)
        for update in sequence:
            telling.fold.apply(decode(version, update))
        assert reference.picture_of(telling.transcript.snapshot()) == reference.picture(version, sequence)

    check()


@pytest.mark.parametrize(
    ("union", "fold"), [(wire_v1.SessionUpdate, fold_v1), (wire_v2.SessionUpdate, fold_v2)], ids=["v1", "v2"]
)
def test_a_fold_has_a_verb_for_every_update_there_is(union: Any, fold: Any) -> None:
    members = set(get_args(get_args(union)[0]))

    assert {*fold._ROLES, *fold._VERBS} == members | {Other}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 99) | st.floats(allow_nan=False) | st.text(max_size=4) | _ids,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "text", "content", "x"]), inner)
    ),
    max_leaves=4,
)


def _spoil(update: Any, spoil: dict[str, Any]) -> Any:
    keys = [key for key in update if key != "sessionUpdate"]
    return {**update, **{keys[place % len(keys)]: value for place, value in spoil.items()}} if keys else update


@pytest.mark.parametrize(("version", "updates"), [(1, _V1), (2, _V2)], ids=["v1", "v2"])
def test_no_update_that_can_be_read_makes_a_fold_fail(version: int, updates: Strategy) -> None:
    spoilt = st.builds(_spoil, updates, st.dictionaries(st.integers(0, 9), _JSON, max_size=2))

    @settings(max_examples=150, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(spoilt, max_size=8))
    def check(sequence: list[Any]) -> None:
        telling = Telling(version)
        for update in sequence:
            try:
                readable = decode(version, update)
            except Unreadable:
                continue
            assert isinstance(telling.fold.apply(readable), get_args(Event))
        telling.transcript.snapshot()
        assert telling.transcript.text is not None

    check()
