"""Clients and agents that lie, send invalid messages, or answer requests that they may no longer answer."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from support.hub_client import ALICE, BOB, TIMEOUT_SECONDS, HubClient, InProcessSpawner, joined
from support.raw_agent import PERMISSION, UPDATE, RawAgent, answer

from accord import Agent, Turn
from accord.hub.budgets import Budget, Budgets
from accord.hub.hub import Hub
from accord.hub.principal import Principal
from accord.hub.sqlite_log import SqliteEventLog
from accord.policy.engine import Policy
from accord.policy.rule import Rule
from accord.transports.base import Transport


def load(session: str, cwd: Path) -> dict[str, Any]:
    return {"sessionId": session, "cwd": str(cwd), "mcpServers": []}


def permission(session: str) -> dict[str, Any]:
    option = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
    return {"sessionId": session, "toolCall": {"toolCallId": "t"}, "options": [option]}


YES = {"outcome": {"outcome": "selected", "optionId": "yes"}}

# -- clients


class Multiroot(Agent):
    additional_directories = True

    async def prompt(self, turn: Turn) -> None:
        await turn.say("done")


@pytest.mark.parametrize("more", ['"x":"\\ud800"', '"\\udfff":1', '"x":NaN', '"x":' + "[" * 2000 + "]" * 2000])
async def test_no_encoding_of_a_message_hides_which_session_it_is_about(more: str, tmp_path: Path) -> None:
    agent = RawAgent()
    async with (
        Hub(agent, root=tmp_path, isolation="shared") as hub,
        joined(hub) as alice,
        joined(hub, BOB) as bob,
    ):
        session = await alice.new_session(str(tmp_path))
        params = f'{{"sessionId":"{session}",{more}}}'.encode()
        bob.transport.send(b'{"jsonrpc":"2.0","method":"session/cancel","params":%b}\n' % params)
        bob.transport.send(b'{"jsonrpc":"2.0","id":99,"method":"session/set_mode","params":%b}\n' % params)
        await bob.wait(lambda m: "error" in m and m["id"] in (99, None))
        await bob.call("session/list")

        assert not [line for line in agent.lines if b"session/cancel" in line or b"set_mode" in line]


async def test_text_with_a_lone_surrogate_still_belongs_to_its_session(tmp_path: Path) -> None:
    agent = RawAgent()
    async with Hub(agent, root=tmp_path) as hub, joined(hub, name="a") as client:
        session = await client.new_session(str(tmp_path))
        agent.say(session, "cut \ud83d")
        update = await client.wait_for("session/update")

        assert update["params"]["update"]["content"]["text"] == "cut \ufffd"
        assert update["params"]["_meta"]["accord/cursor"]
        async with joined(hub) as late:
            await late.call("session/load", load(session, tmp_path))
            assert late.texts() == ["cut \ufffd"]


@pytest.mark.parametrize("role", [None, "watcher"])
async def test_a_client_that_lost_its_access_can_no_longer_answer(role: str | None, tmp_path: Path) -> None:
    agent = RawAgent()
    async with Hub(agent, root=tmp_path) as hub, joined(hub) as alice, joined(hub, BOB) as bob:
        session = await alice.new_session(str(tmp_path))
        await alice.call("_accord/share", {"sessionId": session, "principal": "bob", "role": "driver"})
        await bob.call("session/resume", load(session, tmp_path))
        agent.ask(permission(session))
        asked = await bob.wait_for(PERMISSION)
        share = {"sessionId": session, "principal": "bob"}
        await alice.call("_accord/share", share if role is None else {**share, "role": role})
        bob.answer(asked, YES)
        await bob.call("session/list")
        no = {"outcome": {"outcome": "cancelled"}}
        alice.answer(await alice.wait_for(PERMISSION), no)

        assert json.loads(await agent.wait_for(b'"id":7'))["result"] == no


async def test_a_client_that_left_a_session_can_no_longer_answer(tmp_path: Path) -> None:
    agent = RawAgent()
    async with Hub(agent, root=tmp_path) as hub, joined(hub) as first, joined(hub) as second:
        session = await first.new_session(str(tmp_path))
        await second.call("session/resume", load(session, tmp_path))
        agent.ask(permission(session))
        asked = await second.wait_for(PERMISSION)
        await second.call("session/detach", {"sessionId": session})
        second.answer(asked, YES)
        await second.call("session/list")
        no = {"outcome": {"outcome": "cancelled"}}
        first.answer(await first.wait_for(PERMISSION), no)

        assert json.loads(await agent.wait_for(b'"id":7'))["result"] == no


@pytest.mark.parametrize("outside", ["..", "link", "/", "\0", 3])
async def test_no_directory_of_a_session_is_outside_of_the_root(outside: Any, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    path = f"{root}/{outside}" if outside in ("..", "link", "\0") else outside
    agent = RawAgent()
    async with Hub(agent, root=root) as hub, joined(hub) as client:
        params = {"cwd": str(root), "mcpServers": [], "additionalDirectories": [str(root), path]}
        error = await client.fail("session/new", params)

        assert error["code"] == -32602
        assert error["data"] == {"path": "additionalDirectories"}
        assert not [line for line in agent.lines if b"session/new" in line]
        assert (await client.fail("session/new", {"cwd": path, "mcpServers": []}))["code"] == -32602
        await client.call("session/new", {**params, "additionalDirectories": [str(root)]})


@pytest.mark.parametrize("principal", [ALICE, Principal("admin", "admin")])
async def test_sessions_of_a_server_with_a_wider_root_are_not_served(principal: Principal, tmp_path: Path) -> None:
    narrow, wide = tmp_path / "narrow", tmp_path / "wide"
    narrow.mkdir()
    wide.mkdir()
    file = tmp_path / "events.db"
    more = {"additionalDirectories": [str(wide)]}
    async with Hub(InProcessSpawner(Multiroot), root=tmp_path, log=SqliteEventLog(file)) as hub, joined(hub) as client:
        kept = await client.new_session(str(narrow))
        lost = [await client.new_session(str(wide))]
        params = {"cwd": str(narrow), "mcpServers": [], **more}
        lost.append((await client.call("session/new", params))["sessionId"])
    async with (
        Hub(InProcessSpawner(Multiroot), root=narrow, log=SqliteEventLog(file)) as hub,
        joined(hub, principal) as client,
    ):
        listed = (await client.call("session/list", {}))["sessions"]
        assert [each["sessionId"] for each in listed] == [kept]
        for session in lost:
            for method in ("session/load", "session/resume", "session/attach", "session/delete"):
                params = {"sessionId": session, "cwd": str(narrow), "mcpServers": []}
                assert (await client.fail(method, params))["code"] == -32002


async def test_a_client_cannot_start_an_agent_for_every_version(tmp_path: Path) -> None:
    agent = RawAgent()
    async with Hub(agent, root=tmp_path) as hub:
        for version in (2, 3, 99, 65535):
            client = HubClient(hub, version=version)
            result = await client.initialize()
            await client.close()

            assert result["protocolVersion"] == 1
        assert len(agent.transports) == 1


async def test_sessions_that_are_being_opened_count(tmp_path: Path) -> None:
    budgets = Budgets(Budget(sessions=2))
    async with Hub(RawAgent(), root=tmp_path, budgets=budgets) as hub, joined(hub) as client:
        params = {"cwd": str(tmp_path), "mcpServers": []}
        ids = [client.start("session/new", params) for _ in range(10)]
        answers = [await client.response(id) for id in ids]

        assert sum("result" in answer for answer in answers) == 2
        assert hub.stats.sessions == 2 and hub.stats.agent_processes <= 2
        session = next(answer["result"]["sessionId"] for answer in answers if "result" in answer)
        await client.call("session/close", {"sessionId": session})
        await client.new_session(str(tmp_path))


@pytest.mark.parametrize("cursor", ["9" * 5000, "x", "-1", 7])
async def test_an_unknown_cursor_gets_an_answer(cursor: Any, tmp_path: Path) -> None:
    async with Hub(RawAgent(), root=tmp_path) as hub, joined(hub, name="a") as client:
        session = await client.new_session(str(tmp_path))
        error = await client.fail("session/list", {"cursor": cursor})

        assert error["code"] == -32602
        epoch = (await client.call("session/attach", {"sessionId": session}))["cursor"].partition(".")[0]
        await client.call("session/resume", load(session, tmp_path) | {"_meta": {"accord/after": f"{epoch}.{cursor}"}})
        await client.wait_for("_accord/snapshot")


@pytest.mark.parametrize("kind", [{}, {"type": "stdio"}])
async def test_a_client_cannot_bring_an_mcp_server_that_the_policy_denies(kind: dict[str, str], tmp_path: Path) -> None:
    agent, policy = RawAgent(), Policy(tmp_path, flags=[Rule(effect="deny", command=("npx *",))])
    async with Hub(agent, root=tmp_path, policy=policy) as hub, joined(hub) as client:
        server = {"name": "x", "command": "npx", "args": ["-y", "x"], "env": [], **kind}
        error = await client.fail("session/new", {"cwd": str(tmp_path), "mcpServers": [server]})

        assert error["code"] == -32602
        assert error["message"].endswith("mcpServers: the server's policy doesn't allow the command 'npx'")
        assert not [line for line in agent.lines if b"session/new" in line]
        await client.call("session/new", {"cwd": str(tmp_path), "mcpServers": [{**server, "command": "other"}]})


async def test_an_mcp_server_that_a_rule_asks_about_is_refused_with_advice(tmp_path: Path) -> None:
    agent, policy = RawAgent(), Policy(tmp_path, flags=[Rule(effect="ask", command=("npx *",))])
    async with Hub(agent, root=tmp_path, policy=policy) as hub, joined(hub) as client:
        server = {"name": "x", "command": "npx", "args": ["-y", "x"], "env": []}
        error = await client.fail("session/new", {"cwd": str(tmp_path), "mcpServers": [server]})

        assert error["code"] == -32602
        assert "'npx' without asking" in error["message"] and "--allow" in error["message"]
        assert not [line for line in agent.lines if b"session/new" in line]
        await client.call("session/new", {"cwd": str(tmp_path), "mcpServers": [{**server, "command": "other"}]})


# -- agents


async def test_an_agent_cannot_forge_messages_of_the_hub(tmp_path: Path) -> None:
    agent = RawAgent()
    async with Hub(agent, root=tmp_path) as hub, joined(hub, name="a") as client, joined(hub) as plain:
        session = await client.new_session(str(tmp_path))
        await plain.call("session/load", load(session, tmp_path))
        forged = {"sessionId": session, "cursor": "x.9", "request": "r", "by": "root"}
        for method in ("_accord/snapshot", "_accord/permission_resolved", "_accord/prompted"):
            for params in (forged, {}):
                message = {"jsonrpc": "2.0", "method": method, "params": params}
                agent.transports[-1].send(json.dumps(message).encode() + b"\n")
        agent.ask(forged, "_accord/ping")
        meta = {
            "accord/cursor": "x.9",
            "accord/request": "r",
            "accord/by": "root",
            "accord/recordedAt": "now",
            "own": 1,
        }
        update = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "forged"}}
        agent.transports[-1].send(UPDATE % json.dumps({"sessionId": session, "update": update, "_meta": meta}).encode())
        seen = await client.wait_for("session/update")
        seen_plain = await plain.wait_for("session/update")

        assert seen["params"]["_meta"].keys() == {"accord/cursor", "own"}
        assert seen["params"]["_meta"]["accord/cursor"] != "x.9"
        assert seen_plain["params"]["_meta"] == {"own": 1}
        assert not [m for m in (*client.messages, *plain.messages) if "_accord" in m.get("method", "")]
        assert b"-32601" in await agent.wait_for(b'"id":7')


async def test_an_agent_cannot_send_updates_to_the_session_of_another_agent(tmp_path: Path) -> None:
    agent = RawAgent()
    async with Hub(agent, root=tmp_path) as hub, joined(hub, name="a") as client, joined(hub, BOB) as bob:
        first, second = await client.new_session(str(tmp_path)), await client.new_session(str(tmp_path))
        others = await bob.new_session(str(tmp_path))
        await bob.call("session/close", {"sessionId": others})
        for session in (first, others):
            agent.say(session, "forged", index=1)
            agent.ask(permission(session), index=1)
            assert b'"error"' in await agent.wait_for(b'"id":7')
            agent.lines.clear()
        agent.say("subagent", "honest", index=1)
        update = await client.wait_for("session/update")

        assert update["params"]["sessionId"] == "subagent"
        assert not [m for m in client.messages if m.get("method") == PERMISSION]
        await bob.call("session/load", load(others, tmp_path))
        await client.call("session/detach", {"sessionId": second})


async def test_a_watcher_is_not_asked_outside_of_sessions_either(tmp_path: Path) -> None:
    agent = RawAgent()
    watcher = Principal("wendy", "watcher")
    async with Hub(agent, root=tmp_path, shared_sessions=True) as hub, joined(hub, watcher) as wendy:
        alice = HubClient(hub)
        await alice.initialize()
        session = await alice.new_session(str(tmp_path))
        await wendy.call("session/load", load(session, tmp_path))
        await alice.close()
        agent.ask({"message": "Password?"}, "elicitation/create")

        assert b'"error"' in await agent.wait_for(b'"id":7')
        assert not [m for m in wendy.messages if m.get("method") == "elicitation/create"]


async def test_a_question_about_a_request_goes_only_to_the_client_that_sent_it(tmp_path: Path) -> None:
    class Slow(RawAgent):
        """Leaves the second `session/new` open."""

        def handle(self, transport: Transport, message: dict[str, Any]) -> None:
            if message.get("method") != "session/new" or "second" not in message["params"]["cwd"]:
                super().handle(transport, message)

    agent = Slow()
    (tmp_path / "second").mkdir()
    async with (
        Hub(agent, root=tmp_path, isolation="shared") as hub,
        joined(hub) as alice,
        joined(hub, BOB) as bob,
    ):
        await alice.new_session(str(tmp_path))
        await alice.call("session/list")
        opening = bob.start("session/new", {"cwd": str(tmp_path / "second"), "mcpServers": []})
        sent = json.loads(await agent.wait_for(b"second"))
        question = {"mode": "form", "message": "Key?", "requestedSchema": {}}
        agent.ask({**question, "requestId": sent["id"]}, "elicitation/create")
        asked = await bob.wait_for("elicitation/create")
        assert asked["params"]["requestId"] == opening
        bob.answer(asked, {"action": "decline"})
        assert b"decline" in await agent.wait_for(b'"id":7')
        for id in (sent["id"] + 100, "unknown"):
            agent.lines.clear()
            agent.ask({**question, "requestId": id}, "elicitation/create", id=8)
            assert b"-32602" in await agent.wait_for(b'"id":8')
        agent.transports[0].send(b'{"jsonrpc":"2.0","method":"mcp/message","params":{"serverId":"x"}}\n')
        agent.transports[0].send(b'{"jsonrpc":"2.0","method":"_end"}\n')
        await alice.wait_for("_end")
        assert not [m for m in alice.messages if m.get("method") in ("elicitation/create", "mcp/message")]


async def test_a_request_outside_of_sessions_is_answered_when_its_client_leaves(tmp_path: Path) -> None:
    agent = RawAgent()
    async with Hub(agent, root=tmp_path) as hub:
        client = HubClient(hub)
        await client.initialize()
        await client.new_session(str(tmp_path))
        agent.ask({"message": "Password?"}, "elicitation/create")
        await client.wait_for("elicitation/create")
        await client.close()

        assert b"the client disconnected" in await agent.wait_for(b'"id":7')


async def test_an_agent_gets_what_it_needs_to_restore_a_session(tmp_path: Path) -> None:
    class Reading(RawAgent):
        """Reads a file before it answers `session/load`."""

        def handle(self, transport: Transport, message: dict[str, Any]) -> None:
            super().handle(transport, message)
            if message.get("method") == "session/load":
                self.load = message
                self.ask({"sessionId": "s1", "path": str(tmp_path / "notes")}, "fs/read_text_file")
            elif message.get("id") == 7:
                answer(transport, self.load, b"{}")
            elif message.get("method") == "session/prompt":
                answer(transport, message, b'{"stopReason":"end_turn"}')

    (tmp_path / "notes").write_text("notes")
    agent = Reading()
    async with Hub(agent, root=tmp_path) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        await agent.transports[0].close()
        response = await client.response(client.prompt(session, "go on"))

        assert response["result"] == {"stopReason": "end_turn"}
        assert json.loads(await agent.wait_for(b'"id":7'))["result"] == {"content": "notes"}


# -- memory


async def test_a_client_that_sends_much_before_it_is_initialized_is_disconnected(tmp_path: Path) -> None:
    class Silent(RawAgent):
        def handle(self, transport: Transport, message: dict[str, Any]) -> None:
            """Never answer."""

    agent = Silent()
    async with Hub(agent, root=tmp_path, max_queued_bytes=100_000) as hub:
        client = HubClient(hub)
        client.start("initialize", {"protocolVersion": 1})
        await agent.wait_for(b"initialize")
        for _ in range(20):
            client.start("session/list", {"x": "x" * 10_000})
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await client.ended.wait()
        await client.close()


async def test_a_session_queues_a_limited_number_of_prompts(tmp_path: Path) -> None:
    async with Hub(RawAgent(), root=tmp_path) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        ids = [client.prompt(session, "wait") for _ in range(101)]
        error = (await client.response(ids[-1]))["error"]

        assert "100 prompts are already waiting in this session" in error["message"]


async def test_a_key_that_is_too_long_is_refused(tmp_path: Path) -> None:
    async with Hub(RawAgent(), root=tmp_path) as hub, joined(hub, name="a") as client:
        response = await client.response(client.start("session/list", {}, key="k" * 1000))

        assert "at most 200 characters" in response["error"]["message"]
