"""Sessions that the agent had before it was served."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from support.hub_client import ALICE, BOB, HubClient, InProcessSpawner, joined

import accord
from accord import Agent, Turn
from accord.hub.hub import Hub
from accord.hub.principal import Principal
from accord.store.base import Page

ADMIN = Principal("root", "admin")


class Keeper(Agent):
    """Echoes, and saves its sessions."""

    async def prompt(self, turn: Turn) -> None:
        await turn.say(f"echo {turn.text}")


def make_agent(tmp_path: Path) -> Keeper:
    agent = Keeper()
    agent.store = accord.SqliteStore(tmp_path / "agent.db")
    return agent


def make_directory(path: Path) -> Path:
    path.mkdir()
    return path


async def remember(agent: Agent, cwd: Path, *texts: str) -> str:
    """Use an agent without a hub, and return the id of the session."""
    async with accord.connect(agent, cwd=cwd) as connected:
        session = await connected.new_session()
        for text in texts:
            await session.prompt(text)
        return session.id


@asynccontextmanager
async def serving(agent: Agent, root: Path, **options: Any) -> AsyncIterator[Hub]:
    async with Hub(InProcessSpawner(lambda: agent), root=root, **options) as hub:
        yield hub


async def list_ids(client: HubClient, **params: str) -> list[str]:
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = await client.call("session/list", {**params, **cursor})
        found += [each["sessionId"] for each in page["sessions"]]
        if "nextCursor" not in page:
            return found
        cursor = {"cursor": page["nextCursor"]}


def read_texts(client: HubClient) -> list[str]:
    """Return what the agent said; in version 2, it replays whole messages."""
    content = [each["content"] for each in client.updates() if each["sessionUpdate"].startswith("agent_message")]
    return [each["text"] for part in content for each in (part if isinstance(part, list) else [part])]


def make_request(session: str, cwd: Path, version: int) -> tuple[str, dict[str, Any]]:
    params = {"sessionId": session, "cwd": str(cwd), "mcpServers": []}
    return ("session/load", params) if version == 1 else ("session/resume", params | {"replayFrom": {"type": "start"}})


async def test_an_admin_lists_the_sessions_of_the_agent_in_the_served_directory(version: int, tmp_path: Path) -> None:
    agent, root = make_agent(tmp_path), make_directory(tmp_path / "root")
    old = [await remember(agent, root, "one"), await remember(agent, root, "two")]
    await remember(agent, make_directory(tmp_path / "elsewhere"), "three")
    async with serving(agent, root) as hub, joined(hub, ADMIN, version=version) as admin:
        new = await admin.new_session(str(root))
        assert set(await list_ids(admin)) == {new, *old}
        assert len(await list_ids(admin)) == 3, "each once"
        async with joined(hub, ALICE, version=version) as alice:
            assert await list_ids(alice) == []
            assert (await alice.fail("session/list", {"cursor": "agent/"}))["code"] == -32602
            method, params = make_request(old[0], root, version)
            assert (await alice.fail(method, params))["code"] == -32002


@pytest.mark.parametrize("link", [False, True], ids=["outside", "behind a link"])
async def test_a_session_outside_the_served_directory_cannot_be_opened_by_its_id(
    version: int, tmp_path: Path, link: bool
) -> None:
    agent, root = make_agent(tmp_path), make_directory(tmp_path / "root")
    elsewhere = make_directory(tmp_path / "elsewhere")
    if link:
        (root / "link").symlink_to(elsewhere)
    secret = await remember(agent, root / "link" if link else elsewhere, "secret")
    async with serving(agent, root, shared_sessions=True) as hub:
        for principal in (ADMIN, BOB):
            async with joined(hub, principal, version=version) as client:
                method, params = make_request(secret, root, version)
                for each in {method, "session/resume"}:
                    assert (await client.fail(each, params))["code"] == -32002
                assert "secret" not in str(client.messages)
                assert not hub.sessions


async def test_a_session_is_found_on_any_page_of_the_agents_list(version: int, tmp_path: Path) -> None:
    class Many(Keeper):
        """Lists one session per page, whatever directory is asked for."""

        ids: list[str]

        async def list_sessions(self, *, cwd: str | None, cursor: str | None) -> Page:
            place = int(cursor or 0)
            info = accord.SessionInfo(id=self.ids[place], cwd=str(root))
            following = str(place + 1) if place + 1 < len(self.ids) else None
            return Page(sessions=[info], next_cursor=following)

    root = make_directory(tmp_path / "root")
    agent = Many()
    agent.store = accord.SqliteStore(tmp_path / "agent.db")
    old = await remember(agent, root, "one")
    agent.ids = ["a", "b", old]
    async with serving(agent, root) as hub, joined(hub, ADMIN, version=version) as admin:
        await admin.call(*make_request(old, root, version))
        assert read_texts(admin) == ["echo one"]


async def test_a_session_of_the_agent_continues_in_the_hub(version: int, tmp_path: Path) -> None:
    agent, root = make_agent(tmp_path), make_directory(tmp_path / "root")
    old = await remember(agent, root, "one")
    async with serving(agent, root, shared_sessions=True) as hub:
        async with joined(hub, BOB, version=version) as bob:
            method, params = make_request(old, root, version)
            await bob.call(method, params)
            assert read_texts(bob) == ["echo one"]
            start = len(bob.messages)
            await bob.response(bob.prompt(old, "two"))
            await bob.wait(lambda message: "echo two" in str(message), start)
            await bob.wait(lambda message: version == 1 or "'idle'" in str(message), start)
            assert await list_ids(bob) == [old]
        async with joined(hub, ALICE, version=version) as alice:
            await alice.call(method, params)
            assert read_texts(alice) == ["echo one", "echo two"]
        async with joined(hub, BOB, version=version) as bob:
            await bob.call("session/delete", {"sessionId": old})
            assert await list_ids(bob) == []


async def test_a_closed_session_that_is_deleted_is_not_listed_again(version: int, tmp_path: Path) -> None:
    agent, root = make_agent(tmp_path), tmp_path
    async with serving(agent, root) as hub, joined(hub, ADMIN, version=version) as admin:
        session = await admin.new_session(str(root))
        start = len(admin.messages)
        await admin.response(admin.prompt(session, "one"))
        await admin.wait(lambda message: version == 1 or "'idle'" in str(message), start)
        await admin.call("session/close", {"sessionId": session})
        await admin.call("session/delete", {"sessionId": session})
        assert await list_ids(admin) == []


async def test_a_client_that_resumes_after_the_server_lost_its_log_gets_a_snapshot(tmp_path: Path) -> None:
    agent, root = make_agent(tmp_path), tmp_path
    async with serving(agent, root) as hub, joined(hub, ADMIN, name="c") as admin:
        session = await admin.new_session(str(root))
        await admin.response(admin.prompt(session, "one"))
        cursor = (await admin.call("session/attach", {"sessionId": session}))["cursor"]
    async with serving(agent, root) as hub, joined(hub, ADMIN, name="c") as admin:
        params = {"sessionId": session, "cwd": str(root), "mcpServers": [], "_meta": {"accord/after": cursor}}
        await admin.call("session/resume", params)
        assert admin.messages[1]["method"] == "_accord/snapshot"
        assert admin.texts() == ["echo one"]


async def test_a_session_that_the_agent_does_not_have_is_not_found(version: int, tmp_path: Path) -> None:
    async with serving(make_agent(tmp_path), tmp_path) as hub, joined(hub, ADMIN, version=version) as admin:
        method, params = make_request("nonsense", tmp_path, version)
        assert (await admin.fail(method, params))["code"] == -32002
        assert not hub.sessions
        assert await list_ids(admin) == []
        outside = await admin.fail(method, params | {"cwd": str(tmp_path.parent)})
        assert outside["code"] == -32602
