"""Choosing a model: grouped by provider, by name, or one that isn't listed."""

from __future__ import annotations

import pytest
from support.tui_driver import Opened

from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.errors import InvalidParams
from accord.model.session import Choice, Option
from accord.testing import ScriptedAgent
from accord.tui.host import Finding
from accord.tui.screens.option_values import choose_typed, find_value, list_values

MODELS = Option(
    id="model",
    name="Model",
    value="sun:big",
    category="model",
    choices=[
        Choice(value="sun:big", name="Big Sun", description="1M context"),
        Choice(value="moon:big", name="Big Moon"),
        Choice(value="sun:small", name="Small Sun"),
        Choice(value="offline", name="Offline"),
    ],
)


class Chooser(ScriptedAgent):
    """An agent that accepts some models that it doesn't list."""

    options = (MODELS,)

    async def unlisted_choice(self, session: Session, option: Option, value: str) -> Choice | None:
        if not value.startswith("moon:"):
            raise InvalidParams(f"no provider has {value}", data={"path": "value"})
        return Choice(value=value, name=f"The {value}")


async def repeats(turn: Turn) -> None:
    await turn.say(f"heard: {turn.text}")


async def plans(turn: Turn) -> None:
    await turn.plan(["Choose well"])


def test_models_are_grouped_by_the_provider_in_their_ids() -> None:
    assert [(row.group, row.id) for row in list_values(MODELS)] == [
        ("sun", "sun:big"),
        ("sun", "sun:small"),
        ("moon", "moon:big"),
        ("", "offline"),
    ]


def test_the_agents_own_groups_are_headings() -> None:
    choices = [Choice(value="a", name="A", group="x", group_name="The X"), Choice(value="b", name="B", group="y")]
    option = Option(id="model", name="Model", value="a", choices=choices, category="model")
    assert [row.group for row in list_values(option)] == ["The X", "y"]


def test_a_model_is_found_by_its_id_its_name_or_its_id_without_the_provider() -> None:
    assert find_value(MODELS, "moon:big") == "moon:big"
    assert find_value(MODELS, "small sun") == "sun:small"
    assert find_value(MODELS, "small") == "sun:small"
    assert find_value(MODELS, "big") is None, "two providers have one"


def test_a_name_that_is_not_listed_is_offered_with_each_provider() -> None:
    assert [row.id for row in choose_typed(MODELS, "new-1")] == ["sun:new-1", "moon:new-1"]
    assert [row.id for row in choose_typed(MODELS, "star:new-1")] == ["star:new-1"]
    assert choose_typed(MODELS, "sun:big") == []
    assert choose_typed(MODELS, "two words") == []


@pytest.mark.req("V1-CONF-11")
async def test_settings_of_the_model_are_listed_next_to_the_model(opened: Opened) -> None:
    class Settings(ScriptedAgent):
        options = (
            Option(id="context", name="Context", value=False, category="model_config"),
            MODELS,
            Option(id="style", name="Style", value=False),
            Option(id="speed", name="Speed", value=True, category="model_config"),
        )

    async with opened(Settings([plans]), size=(120, 30)) as chat:
        await chat.send("go")  # options alone don't open the panel
        await chat.until("Context: off")
        panel = [line.partition(":")[0].split()[-1] for line in chat.lines if ": o" in line]
        assert panel == ["Context", "Speed", "Style"], "the model itself is in the header"
        await chat.press("ctrl+g")
        await chat.until("Model: Big Sun")
        first = next(index for index, line in enumerate(chat.lines) if "Model: Big Sun" in line)
        for line, name in zip(chat.lines[first + 1 :], ("Context: off", "Speed: on", "Style: off"), strict=False):
            assert name in line


async def test_the_picker_has_headings_marks_the_current_model_and_takes_any_name(opened: Opened) -> None:
    async with opened(Chooser([repeats]), size=(90, 30)) as chat:
        await chat.send("/model")
        await chat.until("1M context")
        lines = [line.partition("│")[2].partition("│")[0].strip() for line in chat.lines]
        assert lines.index("sun") < lines.index("moon")
        assert any("✓ Big Sun" in line for line in lines)
        await chat.type("new-1")
        await chat.until("moon:new-1")
        await chat.press("down", "enter")
        await chat.until(lambda: chat.is_notified("Model: The moon:new-1"))


async def test_the_doctor_names_the_model_of_the_session(opened: Opened) -> None:
    findings = [Finding(True, "model", "offline, because there is no key", "run: accord login")]
    async with opened(Chooser([repeats]), size=(120, 30), findings=findings) as chat:
        await chat.send("/doctor")
        await chat.until("model: Big Sun, in this session")
        await chat.until("! default model: offline, because there is no key")
        assert "✓ model: Big Sun" in chat.text, "only the one with advice is a warning"


async def test_a_model_that_the_agent_refuses_is_reported_in_its_words(opened: Opened) -> None:
    async with opened(Chooser([repeats])) as chat:
        await chat.send("/model star:9")
        await chat.until(lambda: chat.is_notified("no provider has star:9"))
        assert not chat.is_notified("session/"), "the protocol's words are in the log"


async def test_a_typed_model_without_a_provider_is_looked_up_in_the_picker(opened: Opened) -> None:
    async with opened(Chooser([repeats]), size=(90, 30)) as chat:
        await chat.send("/model new-1")
        await chat.until("sun:new-1")
        await chat.press("down", "enter")
        await chat.until(lambda: chat.is_notified("Model: The moon:new-1"))


async def test_a_mode_that_does_not_exist_is_answered_with_those_that_do(opened: Opened) -> None:
    class Modes(ScriptedAgent):
        options = (
            Option(
                id="mode",
                name="Mode",
                value="ask",
                choices=[Choice(value="ask", name="Ask"), Choice(value="code", name="Code")],
                category="mode",
            ),
        )

    async with opened(Modes([repeats])) as chat:
        await chat.send("/mode cod")
        await chat.until(lambda: chat.is_notified("There is no mode “cod”. Did you mean code"))
        await chat.send("/mode Code")
        await chat.until(lambda: chat.tab.controller.session.option("mode").value == "code")  # type: ignore[union-attr]
