"""Options, as a client sets them."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from support.link import until
from support.wire_agent import Played, tell

from accord import CapabilityError, InvalidParams
from accord.testing import wire_agent

MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}
MODELS = {
    "currentModelId": "fast",
    "availableModels": [{"modelId": "fast", "name": "Fast"}, {"modelId": "deep", "name": "Deep", "description": "d"}],
}


def select(version: int, id: str, value: str, *values: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "select",
        "id" if version == 1 else "configId": id,
        "name": id.title(),
        "currentValue": value,
        "options": [{"value": each, "name": each.title()} for each in values],
        **more,
    }


@pytest.mark.req("V1-MODE-02", "V1-MODE-03", "V1-MODE-10", "V1-MODE-07")
async def test_in_version_1_an_agent_with_modes_alone_is_asked_the_old_way() -> None:
    async with wire_agent(1) as (peer, client):
        session = await Played(peer, client, 1).begin(modes=MODES)
        before = [(option.id, option.value, option.category) for option in session.options]
        setting = asyncio.ensure_future(session.set_mode("code"))
        request = await peer.next_call("session/set_mode")
        await peer.reply(request, {"meta": {"odd": 1}})
        await setting
        set_by_us = session.option("mode").value  # type: ignore[union-attr]
        await tell(peer, "s", {"sessionUpdate": "current_mode_update", "modeId": "ask"})
        await until(lambda: session.option("mode").value == "ask")  # type: ignore[union-attr]
        with pytest.raises(InvalidParams, match="nothing was sent"):
            await session.set_mode("unknown")

    assert before == [("mode", "ask", "mode")]
    assert request["params"] == {"sessionId": "s", "modeId": "code"}
    assert set_by_us == "code"


@pytest.mark.req("V1-CONF-18")
async def test_a_notification_after_the_response_wins(version: int) -> None:
    def list_options(value: str) -> list[dict[str, Any]]:
        return [select(version, "mode", value, "ask", "code", "plan", category="mode")]

    async with wire_agent(version) as (peer, client):
        session = await Played(peer, client, version).begin(configOptions=list_options("ask"))
        values = []
        for _ in range(2):  # the same answer again, which says the same
            setting = asyncio.ensure_future(session.set_mode("code"))
            request = await peer.next_call("session/set_config_option")
            update = {"sessionUpdate": "config_option_update", "configOptions": list_options("plan")}
            answer = {"jsonrpc": "2.0", "id": request["id"], "result": {"configOptions": list_options("code")}}
            told = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}
            await peer.send(b"\n".join(map(msgspec.json.encode, (answer, told))))  # in one read
            await setting
            values.append(session.option("mode").value)  # type: ignore[union-attr]

    assert values == ["plan", "plan"]


@pytest.mark.req("V1-MODEL-01", "V1-MODEL-02")
async def test_in_version_1_models_of_old_are_an_option_like_any_other() -> None:
    async with wire_agent(1) as (peer, client):
        session = await Played(peer, client, 1).begin(models=MODELS)
        setting = asyncio.ensure_future(session.set_model("deep"))
        request = await peer.next_call("session/set_model")
        await peer.reply(request, {})
        await setting

    assert request["params"] == {"sessionId": "s", "modelId": "deep"}
    assert [(option.id, option.value, option.category) for option in session.options] == [("model", "deep", "model")]


@pytest.mark.req("V1-MODE-10", "V1-MODEL-02", "V1-CONF-09")
async def test_in_version_1_an_option_stands_for_the_modes_and_models_it_covers() -> None:
    options = [
        select(1, "m", "ask", "ask", "code", category="mode"),
        select(1, "model", "deep", "fast", "deep", category="model"),
    ]
    async with wire_agent(1) as (peer, client):
        session = await Played(peer, client, 1).begin(modes=MODES, models=MODELS, configOptions=options)
        setting = asyncio.ensure_future(session.set_mode("code"))
        request = await peer.next_call("session/set_config_option")
        await peer.reply(request, {"configOptions": options})
        await setting

    assert [option.id for option in session.options] == ["m", "model"]
    assert request["params"] == {"sessionId": "s", "configId": "m", "value": "code"}


@pytest.mark.req("V1-CONF-12", "V1-CONF-13", "V1-CONF-16", "V1-CONF-18", "V2-CONF-04", "V2-CONF-06")
async def test_an_option_is_set_with_its_type_and_the_answer_is_the_new_list(version: int) -> None:
    flag = {"type": "boolean", "id" if version == 1 else "configId": "web", "name": "Web", "currentValue": False}
    options = [select(version, "model", "fast", "fast", "deep"), flag]
    async with wire_agent(version) as (peer, client):
        session = await Played(peer, client, version).begin(configOptions=options)
        setting = asyncio.ensure_future(session.set_option("web", True))
        boolean = await peer.next_call("session/set_config_option")
        await peer.reply(boolean, {"configOptions": [{**flag, "currentValue": True}]})
        await setting
        after = [(option.id, option.value) for option in session.options]
        await tell(peer, "s", {"sessionUpdate": "config_option_update", "configOptions": options})
        await until(lambda: len(session.options) == 2)
        setting = asyncio.ensure_future(session.set_option("model", "deep"))
        by_id = await peer.next_call("session/set_config_option")
        await peer.reply(by_id, {"configOptions": options})
        await setting

    assert boolean["params"] == {"sessionId": "s", "configId": "web", "type": "boolean", "value": True}
    tag = {} if version == 1 else {"type": "id"}
    assert by_id["params"] == {"sessionId": "s", "configId": "model", "value": "deep", **tag}
    assert after == [("web", True)]


@pytest.mark.req("V1-CONF-14", "V1-CONF-12")
@pytest.mark.parametrize(("id", "value"), [("model", "unknown"), ("model", True), ("web", "true"), ("other", "x")])
async def test_only_what_the_agent_listed_is_sent(version: int, id: str, value: Any) -> None:
    flag = {"type": "boolean", "id" if version == 1 else "configId": "web", "name": "Web", "currentValue": False}
    options = [select(version, "model", "fast", "fast", "deep"), flag]
    async with wire_agent(version) as (peer, client):
        session = await Played(peer, client, version).begin(configOptions=options)
        with pytest.raises((InvalidParams, CapabilityError)):
            await session.set_option(id, value)

    assert not any(message.get("method") == "session/set_config_option" for message in peer.received)


@pytest.mark.req("V1-CONF-06", "V1-CONF-07", "V2-CONF-07", "V2-CONF-08")
async def test_options_that_cannot_be_read_are_left_out_and_unknown_ones_cannot_be_set(version: int) -> None:
    slider = {
        "type": "slider",
        "id": "x",
        "configId": "x",
        "name": "X",
        "currentValue": 3,
        "category": "_mine",
    }
    options = [slider, select(version, "model", "fast", "fast", category="_mine"), {"broken": True}]
    async with wire_agent(version) as (peer, client):
        session = await Played(peer, client, version).begin(configOptions=options)
        with pytest.raises(CapabilityError):
            await session.set_option("x", "3")

    known = [(option.id, option.category) for option in session.options if option.is_known]
    assert known == [("model", "_mine")]
    assert len(session.options) == version  # version 1 has a closed list of types
    found = session.option("_mine")
    assert found is not None and found.id == "model"


@pytest.mark.req("V1-CMD-03", "V1-CMD-06", "V2-CMD-03", "V2-SETUP-03")
async def test_commands_are_replaced_whole_and_bad_ones_skipped(version: int) -> None:
    tag = {} if version == 1 else {"type": "command"}
    good = {**tag, "name": "plan", "description": "Plan"}
    more = {} if version == 1 else {"availableCommands": [good, {"type": "_odd", "name": "odd", "description": "Odd"}]}
    async with wire_agent(version) as (peer, client):
        session = await Played(peer, client, version).begin(**more)
        first = [command.name for command in session.commands]
        update = {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": 3}, good]}
        await tell(peer, "s", update)
        await until(lambda: [command.name for command in session.commands] == ["plan"])

    assert first == ([] if version == 1 else ["plan", "odd"])


async def test_an_agent_that_answers_null_for_its_lists_has_none(version: int) -> None:
    async with wire_agent(version) as (peer, client):
        session = await Played(peer, client, version).begin(
            configOptions=None, modes=None, models=None, availableCommands=None
        )

    assert (session.options, session.commands) == ([], [])


@pytest.mark.req("V2-CANCEL-19", "V2-CANCEL-21")
async def test_single_calls_and_terminals_are_cancelled_only_while_they_offer_it(version: int) -> None:
    async with wire_agent(version) as (peer, client):
        session = await Played(peer, client, version).begin()
        with pytest.raises(CapabilityError):
            await session.cancel_tool_call("c")
        with pytest.raises(CapabilityError):
            await session.cancel_terminal("t")
        if version == 1:
            return
        can = {"cancel": {}}
        call = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "C", "capabilities": can}
        terminal = {"sessionUpdate": "terminal_update", "terminalId": "t", "capabilities": can}
        await tell(peer, "s", call, terminal)
        await until(lambda: session.transcript.terminals)
        for cancelling, method, id in (
            (session.cancel_tool_call("c"), "tool_call/cancel", {"toolCallId": "c"}),
            (session.cancel_terminal("t"), "terminal/cancel", {"terminalId": "t"}),
        ):
            waiting = asyncio.ensure_future(cancelling)
            request = await peer.next_call(method)
            assert request["params"] == {"sessionId": "s", **id}
            await peer.reply(request, {})
            await waiting
        await tell(peer, "s", {**call, "capabilities": None})
        await until(lambda: not session.transcript.tool_calls["c"].can_cancel)
        with pytest.raises(CapabilityError, match="nothing was sent"):
            await session.cancel_tool_call("c")
