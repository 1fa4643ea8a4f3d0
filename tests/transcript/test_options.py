from __future__ import annotations

from typing import Any

import msgspec
import pytest
from transcript.update_builders import Telling, events, update, v1, v2

from accord.codec import from_v1
from accord.model.session import Choice, Command, Option
from accord.schema import v1 as wire
from accord.schema.repair import read
from accord.transcript.events import CommandsChanged, OptionsChanged

MODES = msgspec.convert(
    {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]},
    wire.SessionModeState,
)
MODELS = msgspec.convert(
    {"currentModelId": "big", "availableModels": [{"modelId": "big", "name": "Big", "description": "slow"}]},
    wire.SessionModelState,
)


def select(id: str, value: str, *values: str, **more: Any) -> dict[str, Any]:
    options = [{"value": v, "name": v.title()} for v in values or (value,)]
    return {"type": "select", "id": id, "name": id.title(), "currentValue": value, "options": options, **more}


def config(*options: dict[str, Any]) -> dict[str, Any]:
    return update("config_option_update", configOptions=list(options))


def config_v2(*options: dict[str, Any]) -> dict[str, Any]:
    return config(*({**{k: v for k, v in o.items() if k != "id"}, "configId": o["id"]} for o in options))


def on_wire(*options: dict[str, Any]) -> list[Any]:
    result: list[Any] = read(wire.ConfigOptionUpdate, config(*options)).config_options
    return result


def values(options: list[Option]) -> dict[str, str | bool]:
    return {option.id: option.value for option in options}


def test_modes_and_models_are_shown_as_options() -> None:
    assert from_v1.options(modes=MODES, models=MODELS) == [
        Option(
            id="mode",
            name="Mode",
            value="ask",
            choices=[Choice(value="ask", name="Ask"), Choice(value="code", name="Code")],
            category="mode",
            legacy="modes",
        ),
        Option(
            id="model",
            name="Model",
            value="big",
            choices=[Choice(value="big", name="Big", description="slow")],
            category="model",
            legacy="models",
        ),
    ]


@pytest.mark.req("V1-MODE-10", "V1-MODEL-02")
def test_a_config_option_for_the_mode_or_the_model_wins_over_the_older_way() -> None:
    offered = on_wire(select("how", "code", category="mode"), select("brain", "big", category="model"))

    assert values(from_v1.options(offered, MODES, MODELS)) == {"how": "code", "brain": "big"}


@pytest.mark.req("V1-MODE-10")
def test_without_such_an_option_the_modes_stand_for_themselves() -> None:
    assert values(from_v1.options(on_wire(select("effort", "high")), MODES)) == {"effort": "high", "mode": "ask"}


def test_an_option_called_mode_stands_for_the_mode_even_without_a_category() -> None:
    assert values(from_v1.options(on_wire(select("mode", "x")), MODES)) == {"mode": "x"}


def test_there_are_no_options_if_the_agent_offers_none() -> None:
    assert from_v1.options() == from_v1.options(None, None, None) == []


@pytest.mark.req("V1-CONF-18", "V1-UPD-15")
def test_each_list_of_config_options_replaces_the_one_before() -> None:
    transcript = v1(config(select("a", "1"), select("b", "2")), config(select("b", "3")))

    assert values(transcript.options) == {"b": "3"}


@pytest.mark.req("V2-CONF-06")
def test_each_list_of_config_options_replaces_the_one_before_in_v2() -> None:
    transcript = v2(config_v2(select("a", "1"), select("b", "2")), config_v2(select("b", "3")))

    assert values(transcript.options) == {"b": "3"}


def test_modes_outlive_a_list_of_config_options_that_has_none() -> None:
    telling = Telling(1)
    telling.transcript.set_options(from_v1.options(modes=MODES, models=MODELS))

    telling.tell(config(select("effort", "high")))
    assert values(telling.transcript.options) == {"effort": "high", "mode": "ask", "model": "big"}

    telling.tell(config(select("how", "code", category="mode")))
    assert values(telling.transcript.options) == {"how": "code", "model": "big"}


@pytest.mark.req("V1-MODE-07")
@pytest.mark.parametrize("key", ["currentModeId", "modeId"])
def test_a_new_mode_is_the_value_of_the_mode_option(key: str) -> None:
    telling = Telling(1)
    telling.transcript.set_options(from_v1.options(on_wire(select("effort", "high")), MODES))
    telling.tell(update("current_mode_update", **{key: "code"}))

    assert values(telling.transcript.options) == {"effort": "high", "mode": "code"}
    assert telling.events == [OptionsChanged(telling.transcript.options)]


def test_a_new_mode_is_also_the_value_of_a_config_option_that_knows_it() -> None:
    how = config(select("how", "ask", "ask", "code", category="mode"))

    assert values(v1(how, update("current_mode_update", currentModeId="code")).options) == {"how": "code"}
    assert values(v1(how, update("current_mode_update", currentModeId="else")).options) == {"how": "ask"}


def test_a_mode_reported_before_the_list_of_modes_is_not_lost() -> None:
    option = v1(update("current_mode_update", currentModeId="code")).options[0]

    assert (option.id, option.value, option.legacy) == ("mode", "code", "modes")


def test_an_event_about_options_keeps_their_old_values() -> None:
    telling = Telling(1)
    telling.tell(config(select("mode", "a", "a", "b")), update("current_mode_update", currentModeId="b"))

    assert [values(event.options) for event in telling.events] == [{"mode": "a"}, {"mode": "b"}]


def test_one_option_can_be_set_here_when_the_agent_has_agreed() -> None:
    telling = Telling(1)
    telling.tell(config(select("a", "1", "1", "2"), select("b", "1")))

    assert values(telling.transcript.set_option("a", "2").options) == {"a": "2", "b": "1"}
    assert values(telling.transcript.set_option("nobody", "2").options) == {"a": "2", "b": "1"}
    assert values(telling.events[0].options) == {"a": "1", "b": "1"}


@pytest.mark.req("V1-CONF-06", "V2-CONF-07")
def test_an_option_of_an_unknown_type_is_kept_whole_in_version_2_and_left_out_in_version_1() -> None:
    slider = {"type": "slider", "id": "s", "name": "S", "currentValue": 3, "_meta": {"n": 1}}

    assert values(v1(config(slider, select("a", "1"))).options) == {"a": "1"}
    kept, known = v2(config_v2(slider, select("a", "1"))).options
    assert (kept.id, kept.name, kept.is_known, kept.meta) == ("s", "S", False, {"n": 1})
    assert kept.other is not None and kept.other["currentValue"] == 3
    assert known.is_known


@pytest.mark.req("V1-CONF-07", "V1-CONF-09", "V2-CONF-08", "V2-CONF-09")
def test_options_keep_their_order_and_any_category() -> None:
    offered = [select("z", "1", category="_x"), {"type": "boolean", "id": "b", "name": "B", "currentValue": True}]
    for transcript in (v1(config(*offered)), v2(config_v2(*offered))):
        assert [(o.id, o.category, o.value, o.is_boolean) for o in transcript.options] == [
            ("z", "_x", "1", False),
            ("b", None, True, True),
        ]


@pytest.mark.req("V1-CONF-02", "V2-CONF-02")
def test_grouped_values_keep_their_groups() -> None:
    def group_options(key: str) -> dict[str, Any]:
        group = {key: "fast", "name": "Fast ones", "options": [{"value": "s", "name": "Small"}]}
        return {**select("m", "s"), "options": [group]}

    expected = [Choice(value="s", name="Small", group="fast", group_name="Fast ones")]
    assert v1(config(group_options("group"))).options[0].choices == expected
    assert v2(config_v2(group_options("groupId"))).options[0].choices == expected


# Commands


def command(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"does {name}", **more}


@pytest.mark.req("V1-CMD-03", "V1-CMD-06", "V1-UPD-15")
def test_each_list_of_commands_replaces_the_one_before() -> None:
    first = update("available_commands_update", availableCommands=[command("a"), command("b", input={"hint": "what"})])
    second = update("available_commands_update", availableCommands=[command("b", input=None), {"name": "bad"}])
    telling = Telling(1)

    assert telling.tell(first).commands == [
        Command(name="a", description="does a"),
        Command(name="b", description="does b", hint="what"),
    ]
    assert telling.tell(second).commands == [Command(name="b", description="does b")]


@pytest.mark.req("V2-CMD-02", "V2-CMD-03")
def test_commands_of_unknown_types_are_kept_whole() -> None:
    offered = [
        command("a", type="command", input={"type": "text", "hint": "what"}),
        command("b", type="_macro", steps=[1]),
        command("c", type="command", input={"type": "_form"}),
        command("d", input={"hint": "older"}),
    ]

    assert events(2, update("available_commands_update", availableCommands=offered)) == [
        CommandsChanged(
            [
                Command(name="a", description="does a", hint="what"),
                Command(name="b", description="does b", other=offered[1]),
                Command(name="c", description="does c", input={"type": "_form"}),
                Command(name="d", description="does d", hint="older"),
            ]
        )
    ]
