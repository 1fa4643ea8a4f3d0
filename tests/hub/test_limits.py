"""Limits: budgets, slow clients, clients that leave, and a hub that closes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from support.hub_client import BOB, HubClient, InProcessSpawner, joined

from accord import Agent, Tokens, Turn
from accord.hub.budgets import Budget, BudgetExceeded, Budgets
from accord.hub.event_log import MemoryEventLog
from accord.hub.hub import Hub
from accord.hub.principal import Principal

PERMISSION = "session/request_permission"
ADMIN = Principal("boss", "admin")


class Worker(Agent):
    """Says its prompts; some words make it do more."""

    async def prompt(self, turn: Turn) -> None:
        match turn.text:
            case "wait":
                await turn.say("waiting")
                await asyncio.Event().wait()
            case "ask":
                await turn.say("yes" if await turn.permit("Continue?") else "no")
            case "spend":
                await turn.usage(60, 1000, cost=0.75)
            case "flood":
                for _ in range(200):
                    await turn.say("x" * 10_000)
            case _:
                await turn.say(turn.text)


def resume(session: str, cwd: Path) -> dict[str, Any]:
    return {"sessionId": session, "cwd": str(cwd), "mcpServers": []}


def test_turns_are_counted_only_if_they_are_limited() -> None:
    """Counting looks at every session, so a thousand sessions that are prompted at once would wait for seconds."""
    Budgets().check_turn("alice", lambda: pytest.fail("counted"), MemoryEventLog())
    with pytest.raises(BudgetExceeded, match="2 of your turns are running"):
        Budgets(Budget(turns=2)).check_turn("alice", lambda: 2, MemoryEventLog())


async def test_too_many_sessions_are_refused_with_an_explanation(tmp_path: Path) -> None:
    budgets = Budgets(Budget(sessions=1))
    async with Hub(InProcessSpawner(Worker), root=tmp_path, budgets=budgets) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        error = await client.fail("session/new", {"cwd": str(tmp_path), "mcpServers": []})

        assert error["code"] == -31002
        assert error["message"] == "Budget exceeded: you have 1 open sessions, and the limit is 1; close one first"
        assert error["data"] == {"limit": "sessions", "max": 1, "used": 1}
        async with joined(hub, BOB) as bob:
            await bob.new_session(str(tmp_path))
        await client.call("session/close", {"sessionId": session})
        await client.new_session(str(tmp_path))


async def test_closed_sessions_are_opened_again_only_up_to_the_limit(tmp_path: Path) -> None:
    """Otherwise a client could create sessions, close them, create others, and open all of them."""
    budgets = Budgets(Budget(sessions=2))
    async with Hub(InProcessSpawner(Worker), root=tmp_path, budgets=budgets) as hub, joined(hub) as client:
        closed = [await client.new_session(str(tmp_path)) for _ in range(2)]
        for session in closed:
            await client.call("session/close", {"sessionId": session})
        await client.new_session(str(tmp_path))

        opening = [client.start("session/load", resume(session, tmp_path)) for session in closed]
        responses = [await client.response(id) for id in opening]
        assert sorted("error" in each for each in responses) == [False, True]
        assert len(hub.sessions) == 2
        async with joined(hub, ADMIN) as admin:
            refused = next(session for session in closed if session not in {each.id for each in hub.sessions})
            error = await admin.fail("session/load", resume(refused, tmp_path))
            assert error["message"] == "the owner of this session has too many open sessions"
            await client.call("session/delete", {"sessionId": refused})


async def test_too_many_turns_at_once_are_refused_with_an_explanation(version: int, tmp_path: Path) -> None:
    budgets = Budgets(by_principal={"alice": Budget(turns=1)})
    async with (
        Hub(InProcessSpawner(Worker), root=tmp_path, budgets=budgets) as hub,
        joined(hub, version=version) as client,
    ):
        first, second = await client.new_session(str(tmp_path)), await client.new_session(str(tmp_path))
        client.prompt(first, "wait")
        await client.wait(lambda m: "waiting" in str(m))
        error = (await client.response(client.prompt(second, "hello")))["error"]

        assert error["message"].startswith("Budget exceeded: 1 of your turns are running, and the limit is 1")
        client.notify("session/cancel", {"sessionId": first})
        await client.wait(lambda m: "cancelled" in str(m))
        await client.wait(lambda _: not hub.stats.running_turns)
        assert "result" in await client.response(client.prompt(second, "hello"))


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        (Budget(tokens_per_day=50), "you used 60 of 50 tokens today; the limit resets at 1970-01-03T00:00:00.000Z"),
        (Budget(cost_per_day=0.5), "you spent 0.75 of 0.5 today; the limit resets at 1970-01-03T00:00:00.000Z"),
    ],
)
async def test_a_day_has_a_limit_of_tokens_and_costs(version: int, budget: Budget, words: str, tmp_path: Path) -> None:
    now = 100_000.0
    log = MemoryEventLog()
    budgets = Budgets(budget, clock=lambda: now)
    async with (
        Hub(InProcessSpawner(Worker), root=tmp_path, budgets=budgets, log=log) as hub,
        joined(hub, version=version) as client,
    ):
        session = await client.new_session(str(tmp_path))
        await client.response(client.prompt(session, "spend"))
        await client.wait(lambda m: "usage_update" in str(m))
        refused = await client.response(client.prompt(session, "hello"))
        assert refused["error"]["message"] == f"Budget exceeded: {words}"
        assert refused["error"]["data"]["resetsAt"] == "1970-01-03T00:00:00.000Z"

        now += 86_400
        assert "result" in await client.response(client.prompt(session, "hello"))


async def test_tokens_of_turns_are_counted(version: int, tmp_path: Path) -> None:
    class Spender(Agent):
        unstable = True

        async def prompt(self, turn: Turn) -> None:
            turn.tokens = Tokens(total=40, input=30, output=10)

    log, budgets = MemoryEventLog(), Budgets()
    async with (
        Hub(InProcessSpawner(Spender), root=tmp_path, budgets=budgets, log=log) as hub,
        joined(hub, version=version) as client,
    ):
        session = await client.new_session(str(tmp_path))
        for _ in range(2):
            await client.response(client.prompt(session, "spend"))
            await client.wait(lambda _: not hub.stats.running_turns)
    assert budgets.read_spent("alice", log).tokens == 80


async def test_queued_prompts_have_a_limited_size(tmp_path: Path) -> None:
    large = "x" * 60_000
    async with Hub(InProcessSpawner(Worker), root=tmp_path, max_queued_bytes=100_000) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        client.prompt(session, "wait")
        client.prompt(session, large)
        refused = await client.response(client.prompt(session, large))
        assert "the prompts waiting in this session are too large" in refused["error"]["message"]

        other = await client.new_session(str(tmp_path))
        alone = await client.response(client.prompt(other, large * 2))
        assert "result" in alone


async def test_a_client_has_a_limited_number_of_open_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accord.hub.client.MAX_OPEN_REQUESTS", 3)
    async with Hub(InProcessSpawner(Worker), root=tmp_path) as hub, joined(hub) as client:
        sessions = [await client.new_session(str(tmp_path)) for _ in range(4)]
        first, *_, last = [client.prompt(session, "wait") for session in sessions]
        assert "you have 3 open requests, the maximum" in (await client.response(last))["error"]["message"]

        client.notify("session/cancel", {"sessionId": sessions[0]})
        await client.response(first)
        assert "result" in await client.response(client.prompt(sessions[-1], "hello"))


async def test_a_session_is_shared_with_a_limited_number_of_principals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accord.hub.client_requests.MAX_SHARES", 1)
    async with Hub(InProcessSpawner(Worker), root=tmp_path) as hub, joined(hub) as client:
        share = {"sessionId": await client.new_session(str(tmp_path)), "role": "watcher"}
        await client.call("_accord/share", share | {"principal": "bob"})
        await client.call("_accord/share", share | {"principal": "bob"})
        assert "share it with everyone" in (await client.fail("_accord/share", share | {"principal": "eve"}))["message"]
        assert "principal" in (await client.fail("_accord/share", share | {"principal": "x" * 1000}))["message"]


async def test_the_name_of_a_client_has_a_limited_length(tmp_path: Path) -> None:
    """It is saved with every prompt, beside what `max_session_bytes` counts."""
    async with Hub(InProcessSpawner(Worker), root=tmp_path) as hub:
        client = HubClient(hub, name="n" * 1000)
        with pytest.raises(AssertionError, match="at most 200 characters"):
            await client.initialize()
        await client.close()


async def test_a_slow_client_is_disconnected_and_does_not_delay_others(tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Worker), root=tmp_path, max_queued_bytes=100_000) as hub,
        joined(hub, name="fast") as fast,
    ):
        slow = HubClient(hub, name="slow")
        await slow.initialize()
        session = await fast.new_session(str(tmp_path))
        answer = await slow.call("session/resume", resume(session, tmp_path))
        slow.transport.pause()
        response = await fast.response(fast.prompt(session, "flood"))

        assert response["result"]["stopReason"] == "end_turn"
        assert len(fast.texts()) == 200
        assert hub.stats.slow_clients_total == 1
        assert hub.stats.queued_bytes == 0
        await slow.close()
        async with joined(hub, name="slow") as again:
            after = {"accord/after": answer["_meta"]["accord/cursor"]}
            await again.call("session/resume", {**resume(session, tmp_path), "_meta": after})
            assert again.texts("agent_message_chunk") == fast.texts()


async def test_a_long_history_is_replayed_at_the_pace_of_its_reader(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Worker), root=tmp_path, max_queued_bytes=10_000_000) as hub:
        async with joined(hub) as first:
            session = await first.new_session(str(tmp_path))
            for _ in range(4):
                await first.response(first.prompt(session, "flood"))
        async with joined(hub) as second:
            await second.call("session/load", resume(session, tmp_path))
            assert len(second.texts()) == 800


async def test_the_agent_keeps_working_when_its_clients_leave(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Worker), root=tmp_path, on_disconnect="keep", grace_seconds=0) as hub:
        async with joined(hub) as first:
            session = await first.new_session(str(tmp_path))
            first.prompt(session, "ask")
            await first.wait_for(PERMISSION)
        async with joined(hub) as second:
            await second.call("session/load", resume(session, tmp_path))
            request = await second.wait_for(PERMISSION)
            option = next(each for each in request["params"]["options"] if each["kind"] == "allow_once")
            second.answer(request, {"outcome": {"outcome": "selected", "optionId": option["optionId"]}})
            await second.wait(lambda m: "'text': 'yes'" in str(m))


async def test_work_is_cancelled_after_the_grace_period_under_that_policy(tmp_path: Path) -> None:
    log = MemoryEventLog()
    async with Hub(InProcessSpawner(Worker), root=tmp_path, on_disconnect="cancel", grace_seconds=0.01, log=log) as hub:
        async with joined(hub, name="c") as first:
            session = await first.new_session(str(tmp_path))
            first.prompt(session, "wait", key="1")
            await first.wait(lambda m: "waiting" in str(m))
        async with joined(hub, name="c") as second:
            # The response comes without a client in the session, so nothing but the policy can have ended the turn.
            response = await second.response(second.prompt(session, "wait", key="1"))
            assert response["result"]["stopReason"] == "cancelled"


async def test_a_paused_session_stops_at_the_next_permission_request(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Worker), root=tmp_path, on_disconnect="pause", grace_seconds=0.01) as hub:
        async with joined(hub, name="c") as first:
            session = await first.new_session(str(tmp_path))
            first.prompt(session, "ask", key="1")
            await first.wait_for(PERMISSION)
        async with joined(hub, name="c") as second:
            response = await second.response(second.prompt(session, "ask", key="1"))
            assert response["result"]["stopReason"] == "cancelled"
            await second.call("session/resume", resume(session, tmp_path))
            assert "result" in await second.response(second.prompt(session, "hello", key="2"))


async def test_a_client_that_returns_in_time_finds_the_turn_running(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Worker), root=tmp_path, on_disconnect="cancel", grace_seconds=600) as hub:
        async with joined(hub) as first:
            session = await first.new_session(str(tmp_path))
            first.prompt(session, "wait")
            await first.wait(lambda m: "waiting" in str(m))
        async with joined(hub) as second:
            await second.call("session/resume", resume(session, tmp_path))
            assert hub.stats.running_turns == 1


async def test_a_hub_that_closes_waits_for_running_turns_and_takes_no_new_ones(version: int, tmp_path: Path) -> None:
    hub = Hub(InProcessSpawner(Worker), root=tmp_path)
    client = HubClient(hub, version=version)
    await client.initialize()
    session, other = await client.new_session(str(tmp_path)), await client.new_session(str(tmp_path))
    client.prompt(session, "ask")
    request = await client.wait_for(PERMISSION)
    closing = asyncio.ensure_future(hub.close(drain_seconds=600))
    refused = await client.response(client.prompt(other, "hello"))
    assert "shutting down" in refused["error"]["message"]
    option = next(each for each in request["params"]["options"] if each["kind"] == "allow_once")
    client.answer(request, {"outcome": {"outcome": "selected", "optionId": option["optionId"]}})
    await closing

    assert client.texts() == ["yes"]
    assert client.ended.is_set()
    assert hub.stats.agent_processes == 0


async def test_a_hub_that_closes_answers_the_prompts_that_it_ends(tmp_path: Path) -> None:
    hub = Hub(InProcessSpawner(Worker), root=tmp_path)
    client = HubClient(hub)
    await client.initialize()
    session = await client.new_session(str(tmp_path))
    prompt = client.prompt(session, "wait")
    await client.wait(lambda m: "waiting" in str(m))
    await hub.close()
    response = await client.response(prompt)

    assert response["error"]["message"] == "the server is shutting down"


async def test_a_hub_counts_what_it_does(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Worker), root=tmp_path) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        await client.response(client.prompt(session, "hello"))

        stats, (view,) = hub.stats, hub.sessions
        assert (stats.sessions, stats.clients, stats.agent_processes, stats.turns_total) == (1, 1, 1, 1)
        assert stats.events_total >= 2
        assert (view.id, view.owner, view.clients) == (session, "alice", {"alice": "driver"})
