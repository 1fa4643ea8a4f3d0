"""Options: modes, models and others are one list, sent in the form of each version."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from support.link import Link, script_agent, until
from support.wire_client import begin_session, hello, turn

from accord import (
    Agent,
    AgentSession,
    Choice,
    InvalidValue,
    Mode,
    Option,
    OptionsChanged,
    RequestFailed,
    Turn,
)
from accord.testing import ScriptedAgent, WirePeer, wire_client

MODEL = Option(
    id="model",
    name="Model",
    value="fast",
    choices=[Choice(value="fast", name="Fast"), Choice(value="deep", name="Deep", description="slower")],
    category="model",
)
WEB = Option(id="web", name="Web search", value=True, description="May look things up")
GROUPED = Option(
    id="effort",
    name="Effort",
    value="low",
    choices=[
        Choice(value="low", name="Low", group="plain", group_name="Plain"),
        Choice(value="high", name="High", group="costly", group_name="Costly"),
    ],
    category="thought_level",
)
BOOLEANS = {"session": {"configOptions": {"boolean": {}}}}


class Tuned(ScriptedAgent):
    modes = (Mode(id="ask", name="Ask"), Mode(id="code", name="Code", description="Writes"))
    options = (MODEL, WEB, GROUPED)

    def __init__(self, *turns: Any) -> None:
        super().__init__(*turns)
        self.set: list[tuple[str, Any, Any]] = []
        self.opened: list[AgentSession] = []

    async def new_session(self, session: AgentSession) -> None:
        self.opened.append(session)

    async def set_option(self, session: AgentSession, option: Option, value: str | bool) -> None:
        self.set.append((option.id, option.value, value))
        if value == "deep" and session.cwd == "/cheap":
            raise RequestFailed("too dear", code=-31000)


async def new(peer: WirePeer) -> dict[str, Any]:
    answer: dict[str, Any] = (await peer.call("session/new", {"cwd": "/project", "mcpServers": []}))["result"]
    return answer


async def set_option(peer: WirePeer, session: str, id: str, value: Any, **more: Any) -> dict[str, Any]:
    kind = "boolean" if isinstance(value, bool) else "id"
    params = {"sessionId": session, "configId": id, "value": value, "type": kind, **more}
    return await peer.call("session/set_config_option", params)


@pytest.mark.feature("modes and options", "agent", "client")
@pytest.mark.req("V1-CONF-03", "V1-CONF-18", "V1-SETUP-08", "V2-SETUP-03", "V2-CONF-06", "V1-CONF-10", "V1-CONF-14")
async def test_options_and_modes_are_one_list_to_the_client(link: Link) -> None:
    agent = Tuned()
    async with link(agent) as client:
        session = await client.new_session()
        before = [(option.id, option.value, option.category) for option in session.options]
        await session.set_option("model", "deep")
        await session.set_option("web", False)
        await session.set_mode("code")
        after = [option.value for option in session.options]

    assert before == [
        ("mode", "ask", "mode"),
        ("model", "fast", "model"),
        ("web", True, None),
        ("effort", "low", "thought_level"),
    ]
    assert after == ["code", "deep", False, "low"]
    assert agent.set == [("model", "fast", "deep"), ("web", True, False), ("mode", "ask", "code")]
    assert session.options[3].choices == GROUPED.choices


@pytest.mark.req("V1-SETUP-07")
async def test_the_options_of_one_session_are_not_those_of_another(link: Link) -> None:
    async with link(Tuned()) as client:
        one, two = await client.new_session(), await client.new_session()
        await one.set_option("model", "deep")
        third = await client.new_session()

    assert [s.option("model").value for s in (one, two, third)] == ["deep", "fast", "fast"]  # type: ignore[union-attr]
    assert MODEL.value == "fast"


async def test_responses_follow_options_that_the_author_changes_in_place(link: Link) -> None:
    agent = Tuned()
    agent.options = (deepcopy(MODEL),)
    async with link(agent) as client:
        session = await client.new_session()
        await session.set_option("model", "fast")
        (theirs,) = agent.opened
        theirs.options[1].choices[0].name = "Fastest"
        theirs.options.append(Option(id="tests", name="Tests", value=True))
        await session.set_option("model", "fast")
        changed = session.options
        theirs.options.pop()
        await session.set_option("model", "fast")

    assert [option.id for option in changed] == ["mode", "model", "tests"]
    assert changed[1].choices[0].name == "Fastest"
    assert [option.id for option in session.options] == ["mode", "model"]


async def test_a_value_that_the_author_refuses_is_not_taken(link: Link) -> None:
    async with link(Tuned()) as client:
        session = await client.new_session("/cheap")
        with pytest.raises(RequestFailed, match="too dear"):
            await session.set_option("model", "deep")

    assert session.option("model").value == "fast"  # type: ignore[union-attr]


@pytest.mark.req("V1-CONF-12", "V1-MODE-02", "V1-MODE-06", "V1-CONF-17", "V2-CONF-06")
async def test_the_agent_may_change_options_itself(link: Link) -> None:
    async def change(turn: Turn) -> None:
        await turn.set_mode("code")
        await turn.session.change_option("model", "deep")
        with pytest.raises(InvalidValue, match="option 'model' is 'unheard of'; it may be fast, deep"):
            await turn.session.change_option("model", "unheard of")

    async with link(Tuned([change])) as client:
        session = await client.new_session()
        events = [event async for event in session.prompt("go") if isinstance(event, OptionsChanged)]

    assert [option.value for option in session.options][:2] == ["code", "deep"]
    assert len(events) >= 2


@pytest.mark.req("V1-CONF-16", "V2-CONF-06")
async def test_one_option_may_change_the_others(link: Link) -> None:
    class Dependent(Agent):
        options = (MODEL,)

        async def prompt(self, turn: Turn) -> None: ...

        async def set_option(self, session: AgentSession, option: Option, value: str | bool) -> None:
            await session.set_options([MODEL, GROUPED] if value == "deep" else [MODEL])

    async with link(Dependent()) as client:
        session = await client.new_session()
        await session.set_option("model", "deep")
        deep = [(option.id, option.value) for option in session.options]
        await session.set_option("model", "fast")

    assert deep == [("model", "deep"), ("effort", "low")]
    assert [(option.id, option.value) for option in session.options] == [("model", "fast")]


@pytest.mark.req("V1-CONF-01", "V1-CONF-02", "V1-CONF-05", "V1-CONF-19", "V1-MODE-01", "V1-MODE-09")
async def test_in_version_1_modes_are_sent_twice_and_options_once() -> None:
    async with wire_client(Tuned()) as peer:
        await hello(peer, 1, BOOLEANS)
        answer = await new(peer)

    assert answer["modes"] == {
        "currentModeId": "ask",
        "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code", "description": "Writes"}],
    }
    mode, model, web, effort = answer["configOptions"]
    assert (mode["id"], mode["type"], mode["category"], mode["currentValue"]) == ("mode", "select", "mode", "ask")
    assert model["options"] == [
        {"value": "fast", "name": "Fast"},
        {"value": "deep", "name": "Deep", "description": "slower"},
    ]
    assert web == {
        "type": "boolean",
        "id": "web",
        "name": "Web search",
        "description": "May look things up",
        "currentValue": True,
    }
    assert effort["options"] == [
        {"group": "plain", "name": "Plain", "options": [{"value": "low", "name": "Low"}]},
        {"group": "costly", "name": "Costly", "options": [{"value": "high", "name": "High"}]},
    ]


@pytest.mark.req("V1-CONF-04", "V1-CONF-13")
async def test_in_version_1_a_client_without_on_and_off_gets_a_choice_of_two() -> None:
    agent = Tuned()
    async with wire_client(agent) as peer:
        await hello(peer, 1)
        answer = await new(peer)
        told = await peer.call(
            "session/set_config_option", {"sessionId": answer["sessionId"], "configId": "web", "value": "false"}
        )

    web = answer["configOptions"][2]
    assert (web["type"], web["currentValue"]) == ("select", "true")
    assert [value["value"] for value in web["options"]] == ["true", "false"]
    assert told["result"]["configOptions"][2]["currentValue"] == "false"
    assert agent.set == [("web", True, False)]


@pytest.mark.req("V1-MODE-05", "V1-MODE-09", "V1-MODE-06", "V1-UPD-15")
async def test_in_version_1_a_mode_change_is_sent_once_and_only_in_the_form_the_client_did_not_use() -> None:
    async with wire_client(Tuned()) as peer:
        session = await begin_session(peer, 1)
        by_mode = await peer.call("session/set_mode", {"sessionId": session, "modeId": "code"})
        await peer.quiet()
        first = list(peer.updates)
        by_option = await set_option(peer, session, "mode", "ask")
        await peer.quiet()
        second = peer.updates[len(first) :]

    assert by_mode["result"] == {}
    (listed,) = first
    assert listed["sessionUpdate"] == "config_option_update"
    assert listed["configOptions"][0]["currentValue"] == "code"
    assert len(listed["configOptions"]) == 4
    assert by_option["result"]["configOptions"][0]["currentValue"] == "ask"
    assert second == [{"sessionUpdate": "current_mode_update", "currentModeId": "ask"}]


@pytest.mark.req("V1-MODE-05", "V1-CONF-16")
async def test_in_version_1_a_mode_that_is_set_already_takes_one_request_and_one_answer() -> None:
    async with wire_client(Tuned()) as peer:
        session = await begin_session(peer, 1)
        by_mode = await peer.call("session/set_mode", {"sessionId": session, "modeId": "ask"})
        by_option = await set_option(peer, session, "mode", "ask")
        await peer.quiet()

    assert by_mode["result"] == {}
    assert by_option["result"]["configOptions"][0]["currentValue"] == "ask"
    assert peer.updates == []


@pytest.mark.req("V1-MODEL-01", "V1-MODEL-02")
async def test_in_version_1_clients_of_old_may_set_the_model_where_there_is_one() -> None:
    async with wire_client(Tuned()) as peer:
        session = await begin_session(peer, 1)
        assert (await peer.call("session/set_model", {"sessionId": session, "modelId": "deep"}))["result"] == {}
        refused = await peer.call("session/set_model", {"sessionId": session, "modelId": "unheard of"})
        await peer.quiet()
    async with wire_client(script_agent()) as other:
        session = await begin_session(other, 1)
        absent = await other.call("session/set_model", {"sessionId": session, "modelId": "deep"})
        modeless = await other.call("session/set_mode", {"sessionId": session, "modeId": "ask"})

    assert refused["error"]["code"] == -32602
    assert absent["error"]["code"] == modeless["error"]["code"] == -32601
    assert peer.updates[-1]["configOptions"][1]["currentValue"] == "deep"


@pytest.mark.req("V1-MODE-04", "V1-CONF-15", "V2-CONF-05")
@pytest.mark.parametrize(("id", "value"), [("nothing", "x"), ("model", "x"), ("model", True), ("web", "maybe")])
async def test_what_cannot_be_set_is_refused_and_nothing_changes(version: int, id: str, value: Any) -> None:
    agent = Tuned()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, version)
        refused = await set_option(peer, session, id, value)

    assert refused["error"]["code"] == -32602
    assert agent.set == []


@pytest.mark.req("V1-MODE-04", "V1-MODE-03")
async def test_in_version_1_an_unknown_mode_is_refused() -> None:
    async with wire_client(Tuned()) as peer:
        session = await begin_session(peer, 1)
        refused = await peer.call("session/set_mode", {"sessionId": session, "modeId": "unknown"})

    assert refused["error"]["code"] == -32602


@pytest.mark.req("V1-CONF-13", "V2-CONF-04")
@pytest.mark.parametrize("type", [None, "id", "_future"])
async def test_a_value_without_its_type_is_read_by_what_it_is(version: int, type: str | None) -> None:
    async with wire_client(Tuned()) as peer:
        session = await begin_session(peer, version)
        params = {"sessionId": session, "configId": "model", "value": "deep"} | ({"type": type} if type else {})
        answer = await peer.call("session/set_config_option", params)

    if version == 2 and type == "_future":
        assert answer["error"]["code"] == -32602
    else:
        assert answer["result"]["configOptions"][1]["currentValue"] == "deep"


@pytest.mark.req("V2-CONF-02", "V2-CONF-01", "V2-CONF-08")
async def test_in_version_2_options_have_their_own_words() -> None:
    async with wire_client(Tuned()) as peer:
        await hello(peer, 2)
        answer = await new(peer)

    assert "modes" not in answer
    mode, model, web, effort = answer["configOptions"]
    assert (mode["configId"], mode["type"], mode["category"], mode["currentValue"]) == ("mode", "select", "mode", "ask")
    assert (model["configId"], web["type"], web["currentValue"]) == ("model", "boolean", True)
    assert effort["options"][0] == {"groupId": "plain", "name": "Plain", "options": [{"value": "low", "name": "Low"}]}


@pytest.mark.req("V1-CONF-07", "V2-CONF-08")
async def test_a_category_of_ones_own_changes_nothing(link: Link) -> None:
    class Own(Agent):
        options = (Option(id="x", name="X", value=False, category="_mine"),)

        async def prompt(self, turn: Turn) -> None: ...

    async with link(Own()) as client:
        session = await client.new_session()
        await session.set_option("_mine", True)

    assert [(option.category, option.value) for option in session.options] == [("_mine", True)]


@pytest.mark.req("V1-CONF-12", "V1-MODE-02")
async def test_options_may_be_set_while_a_turn_runs(link: Link) -> None:
    seen: list[Any] = []

    async def wait(turn: Turn) -> None:
        await turn.say("ready")
        await until(lambda: turn.session.mode == "code")
        seen.append(turn.session.mode)

    async with link(Tuned([wait])) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await until(lambda: turn.has_output)
        await session.set_mode("code")
        await turn

    assert seen == ["code"]


async def test_older_clients_receive_models_only_from_agents_that_opt_in() -> None:
    class Older(Tuned):
        legacy_models = True

    async with wire_client(Tuned()) as peer:
        await hello(peer, 1)
        assert "models" not in await new(peer)
    async with wire_client(Older()) as peer:
        await hello(peer, 1)
        assert (await new(peer))["models"] == {
            "currentModelId": "fast",
            "availableModels": [
                {"modelId": "fast", "name": "Fast"},
                {"modelId": "deep", "name": "Deep", "description": "slower"},
            ],
        }
    async with wire_client(Older()) as peer:
        await hello(peer, 2)
        assert "models" not in await new(peer)


@pytest.mark.req("V2-CONF-03")
async def test_every_option_has_a_default_that_works_for_clients_that_never_set_one(version: int) -> None:
    seen: list[Any] = []

    class Looking(Tuned):
        async def prompt(self, turn: Turn) -> None:
            seen.append({option.id: option.value for option in turn.session.options})

    async with wire_client(Looking()) as peer:
        await hello(peer, version, BOOLEANS if version == 1 else {})
        answer = await new(peer)
        await turn(peer, version, answer["sessionId"], "go")

    told = {option["id" if version == 1 else "configId"]: option for option in answer["configOptions"]}
    assert {id: option["currentValue"] for id, option in told.items()} == seen[0]
    for option in told.values():
        offered = [True, False] if option["type"] == "boolean" else list(_values(option["options"]))
        assert option["currentValue"] in offered


def _values(options: list[dict[str, Any]]) -> Iterator[str]:
    for each in options:
        yield from _values(each["options"]) if "options" in each else [each["value"]]


@pytest.mark.req("V2-CONF-03")
@pytest.mark.parametrize("value", ["none of them", ""])
async def test_an_option_whose_value_is_none_of_its_choices_is_the_authors_mistake(link: Link, value: str) -> None:
    errors: list[str] = []

    async def change(turn: Turn) -> None:
        wrong = Option(id="model", name="Model", value=value, choices=[Choice(value="a", name="A")])
        with pytest.raises(InvalidValue) as caught:
            await turn.session.set_options([wrong])
        errors.append(str(caught.value))

    async with link(Tuned([change])) as client:
        session = await client.new_session()
        await session.prompt("go")

    assert errors == [f"options[0].value is {value!r}; it must be one of its choices ('a')"]
    assert [option.id for option in session.options] == ["mode", "model", "web", "effort"]
