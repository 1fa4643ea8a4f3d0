"""Budgets in the terminal client: the agent is stopped, the user is asked, and the answer is followed."""

from __future__ import annotations

import asyncio

import pytest
from support.tui_driver import Chat, Opened

from accord.agent.agent import Agent
from accord.agent.turn import Turn
from accord.config.settings import Loaded, Settings
from accord.model.session import Tokens
from accord.status.attention_list import AttentionList
from accord.status.spending_log import SpendingLog
from accord.testing import ScriptedAgent
from accord.tui.screens.picker import Picked, Picker


class Costly(Agent):
    def __init__(self) -> None:
        super().__init__()
        self.cost = 0.0
        self.prompts: list[str] = []

    async def prompt(self, turn: Turn) -> None:
        self.prompts.append(turn.text)
        self.cost += 1.0
        await turn.usage(10, 100, cost=self.cost)
        if len(self.prompts) == 1:
            await asyncio.Event().wait()
        await turn.say(f"spent {self.cost:g}")


def limit(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = Loaded(settings=Settings(budget="$1/turn"))
    monkeypatch.setattr(chat.app.host, "configuration", lambda: loaded)


@pytest.mark.parametrize("answer", ["no", "yes"])
async def test_a_turn_that_reaches_its_budget_is_stopped_and_the_user_decides(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    agent = Costly()
    async with opened(agent) as chat:
        limit(chat, monkeypatch)
        await chat.ready()
        await chat.send("work")
        await chat.until("The budget of $1 per turn is reached ($1.00)")
        await chat.until("Stop here")
        await chat.until(lambda: not chat.tab.controller.session.busy)  # type: ignore[union-attr]
        chat.app.overview.publish()
        assert [(each.state, each.why) for each in AttentionList().read()] == [
            ("waiting", "the budget of $1 per turn is reached ($1.00)")
        ]
        screen = chat.app.screen
        assert isinstance(screen, Picker)
        screen.dismiss(Picked(answer))
        await chat.until(lambda: chat.app.budgets.find_question(chat.tab) is None)
        if answer == "yes":
            await chat.until("spent 2")
            assert agent.prompts == ["work", "Continue where you stopped."]
        else:
            assert agent.prompts == ["work"]


async def test_without_a_budget_nothing_is_asked(opened: Opened) -> None:
    agent = Costly()
    agent.prompts.append("an earlier one")
    async with opened(agent) as chat:
        await chat.ready()
        await chat.send("work")
        await chat.until("spent 1")
        chat.app.budgets.check(chat.tab)
        assert chat.app.budgets.find_question(chat.tab) is None


async def test_a_cost_reported_while_another_is_compared_is_counted(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def reports(turn: Turn) -> None:
        for cost in (0.25, 0.5, 1.0):
            await turn.usage(10, 100, cost=cost)
        await asyncio.Event().wait()

    async with opened(ScriptedAgent([reports])) as chat:
        limit(chat, monkeypatch)
        await chat.ready()
        await chat.send("work")
        await chat.until("The budget of $1 per turn is reached ($1.00)")
        chat.app.screen.dismiss(Picked("no"))


class Thirsty(Agent):
    """Reports the tokens of each turn, as agents without prices do."""

    unstable = True

    def __init__(self) -> None:
        super().__init__()
        self.prompts: list[str] = []

    async def prompt(self, turn: Turn) -> None:
        self.prompts.append(turn.text)
        turn.tokens = Tokens(total=600, input=500, output=100)
        if len(self.prompts) == 3:
            await asyncio.Event().wait()
        await turn.say(f"answer {len(self.prompts)}")


async def test_tokens_are_counted_when_a_turn_ends_and_stop_the_next_one(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = Thirsty()
    loaded = Loaded(settings=Settings(budget="1000 tokens/day"))
    async with opened(agent) as chat:
        monkeypatch.setattr(chat.app.host, "configuration", lambda: loaded)
        await chat.ready()
        for number in (1, 2):
            await chat.send(f"question {number}")
            await chat.until(f"answer {number}")
            await chat.until(lambda number=number: count_tokens() == 600 * number)
        await chat.send("question 3")
        await chat.until("The budget of 1,000 tokens per day is reached (1,200)")
        chat.app.screen.dismiss(Picked("no"))


def count_tokens() -> int:
    return sum(spent.tokens for spent in SpendingLog().read_today().values())
