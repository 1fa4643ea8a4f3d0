"""Agents that die and are started again, and logins that run the agent's own program in a terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import accord

AGENT = [sys.executable, str(Path(__file__).resolve().parents[1] / "agents" / "mortal_agent.py")]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accord.client.restarts.BACK_OFF_SECONDS", (0.0, 0.0))


def mortal(home: Path, version: int, **more: Any) -> Any:
    variables = {"MORTAL_HOME": str(home), **more.pop("env", {})}
    return accord.connect(AGENT, cwd=home, env=variables, versions={version}, **more)


@pytest.mark.parametrize("loads", [False, True], ids=["resumes", "loads"])
async def test_a_dead_agent_is_restarted_and_its_sessions_continue(tmp_path: Path, version: int, loads: bool) -> None:
    async with mortal(tmp_path, version, restart=True, env={"MORTAL_LOADS": "1" if loads else ""}) as agent:
        session = await agent.new_session()
        before = (await session.prompt("one")).text
        told = session.events()
        with pytest.raises(accord.PeerDied, match="status 7") as caught:
            await session.prompt("die")
        assert "it was my time" in caught.value.stderr

        seen = []
        async for event in told:
            if isinstance(event, accord.ConnectionChanged):
                seen.append(event.state)
                if event.state == "restored":
                    break
        assert seen == ["lost", "restarting", "restored"]

        after = (await session.prompt("three")).text
        assert before.startswith("prompt 1 in process")
        assert after.startswith("prompt 3 in process")
        assert before.split()[-1] != after.split()[-1]
        assert "old words" not in session.transcript.text


async def test_an_agent_that_does_not_come_back_is_given_up(tmp_path: Path, version: int) -> None:
    async with mortal(tmp_path, version, restart=True, env={"MORTAL_STILLBORN": "1"}) as agent:
        session = await agent.new_session()
        told, of_the_agent = session.events(), agent.events()
        with pytest.raises(accord.PeerDied):
            await session.prompt("die")
        seen = [event.state async for event in told if isinstance(event, accord.ConnectionChanged)]
        assert seen[0] == "lost" and seen[-1] == "gone"
        assert session.closed
        for events in (of_the_agent, agent.events(), session.events()):
            assert [event async for event in events] == []


async def test_without_restart_a_dead_agent_stays_dead(tmp_path: Path, version: int) -> None:
    async with mortal(tmp_path, version) as agent:
        session = await agent.new_session()
        with pytest.raises(accord.PeerDied):
            await session.prompt("die")
        with pytest.raises(accord.ConnectionClosed):
            await agent.new_session()


@pytest.mark.req("V1-AUTH-13", "V1-AUTH-14", "V1-AUTH-15", "V1-AUTH-16", "V2-AUTH-12", "V2-AUTH-13", "V2-AUTH-16")
async def test_a_login_in_a_terminal_runs_the_agents_program_and_the_call_is_made_again(
    tmp_path: Path, version: int
) -> None:
    async with mortal(
        tmp_path, version, env={"MORTAL_LOGIN": "1", "HOW": "badly"}, terminal_login=True, login=lambda ways: ways[0]
    ) as agent:
        session = await agent.new_session()
        assert (tmp_path / "key").read_text() == "well", "variables of the login go before those of the agent"
        assert (await session.prompt("one")).text.startswith("prompt 1")


@pytest.mark.parametrize("loads", [False, True], ids=["resumes", "loads"])
async def test_a_prompt_that_demanded_a_login_in_a_terminal_is_sent_again_in_its_session(
    tmp_path: Path, loads: bool
) -> None:
    variables = {"MORTAL_ASKS_LATE": "1", "MORTAL_LOADS": "1" if loads else ""}
    async with mortal(tmp_path, 1, env=variables, terminal_login=True, login=lambda methods: methods[0]) as agent:
        session = await agent.new_session()
        assert (await session.prompt("one")).text.startswith("prompt 1")
        assert (await session.prompt("two")).text.startswith("prompt 2")
        assert not session.closed and agent.sessions == {session.id: session}


async def test_a_session_that_a_new_process_does_not_know_is_over_and_its_prompt_is_not_sent_there(
    tmp_path: Path,
) -> None:
    variables = {"MORTAL_ASKS_LATE": "1", "MORTAL_FORGETS": "1"}
    seen: list[bytes] = []
    async with mortal(
        tmp_path,
        1,
        env=variables,
        terminal_login=True,
        login=lambda methods: methods[0],
        watch=lambda way, line: seen.append(bytes(line)) if way == "out" else None,
    ) as agent:
        session = await agent.new_session()
        with pytest.raises(accord.ConnectionClosed, match="neither resume nor load"):
            await session.prompt("one")
        assert session.closed and isinstance(session.failure, accord.ConnectionClosed)
        again = await agent.new_session()
        assert (await again.prompt("one")).text.startswith("prompt 1")
    assert sum(b"session/prompt" in line for line in seen) == 2, "one was refused, one was for the new session"


async def test_an_agent_that_does_not_start_after_a_login_leaves_no_session_open(tmp_path: Path, version: int) -> None:
    async with mortal(tmp_path, version, env={"MORTAL_STILLBORN": "1"}, terminal_login=True) as agent:
        session = await agent.new_session()
        with pytest.raises(accord.ConnectionClosed):
            await agent.login()
        assert session.closed
        assert [event async for event in agent.events()] == []


async def test_the_events_of_an_agent_continue_after_a_restart(tmp_path: Path) -> None:
    async with mortal(tmp_path, 1, restart=True) as agent:
        events = agent.events()
        session = await agent.new_session()
        told = session.events()
        with pytest.raises(accord.PeerDied):
            await session.prompt("die")
        async for event in told:
            if isinstance(event, accord.ConnectionChanged) and event.state == "restored":
                break
        later = agent.events()
        agent.push(accord.AuthStatus(state="authenticated"), 0)
        assert await anext(events) == await anext(later)


async def test_sessions_continue_after_a_voluntary_login(tmp_path: Path, version: int) -> None:
    async with mortal(tmp_path, version, terminal_login=True) as agent:
        session = await agent.new_session()
        await agent.login()
        assert (await session.prompt("one")).text.startswith("prompt 1")


@pytest.mark.req("V1-AUTH-15", "V2-AUTH-15")
async def test_a_login_command_that_fails_does_not_log_in(tmp_path: Path, version: int) -> None:
    variables = {"MORTAL_LOGIN": "1", "MORTAL_LOGIN_STATUS": "1"}
    async with mortal(tmp_path, version, env=variables, terminal_login=True, login=lambda methods: methods[0]) as agent:
        with pytest.raises(accord.AuthRequired, match="failed; try again"):
            await agent.new_session()


@pytest.mark.req("V1-AUTH-11", "V1-AUTH-12", "V2-AUTH-11")
async def test_terminal_methods_are_offered_only_to_clients_that_can_run_them(tmp_path: Path, version: int) -> None:
    async with mortal(tmp_path, version) as agent:
        assert agent.auth_methods == []
