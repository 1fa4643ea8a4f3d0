"""Several clients on one session: who sees it, who drives it, and who answers its permission requests."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from support.hub_client import BOB, HubClient, InProcessSpawner, joined

from accord import Agent, Turn
from accord.hub.hub import Hub
from accord.hub.principal import Principal

CAROL = Principal("carol")
WATCHER = Principal("wendy", "watcher")
ADMIN = Principal("root", "admin")


class Worker(Agent):
    """Says its prompts; `ask` asks for permission; `wait` works until it is cancelled."""

    async def prompt(self, turn: Turn) -> None:
        if turn.text == "ask":
            permission = await turn.permit("Delete everything")
            await turn.say("allowed" if permission else "refused")
        elif turn.text == "wait":
            await turn.say("waiting")
            await asyncio.Event().wait()
        else:
            await turn.say(turn.text)


def load(session: str, cwd: Path) -> dict[str, Any]:
    return {"sessionId": session, "cwd": str(cwd), "mcpServers": []}


def choose(request: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return the answer to a permission request that chooses the option of a kind."""
    option = next(each for each in request["params"]["options"] if each["kind"] == kind)
    return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}


PERMISSION = "session/request_permission"


async def test_updates_go_to_all_clients_and_a_prompt_to_those_that_did_not_send_it(tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Worker), root=tmp_path, shared_sessions=True) as hub,
        joined(hub) as alice,
        joined(hub, BOB) as bob,
    ):
        session = await alice.new_session(str(tmp_path))
        await bob.call("session/load", load(session, tmp_path))
        await alice.response(alice.prompt(session, "hello"))
        await bob.wait(lambda m: "hello" in str(m) and "agent_message_chunk" in str(m))

        assert bob.texts("user_message_chunk") == ["hello"]
        assert bob.messages[-2]["params"]["_meta"]["accord/by"] == "alice"
        assert alice.texts("user_message_chunk") == []
        assert alice.texts() == bob.texts() == ["hello"]


async def test_a_late_client_gets_the_transcript(version: int, tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Worker), root=tmp_path) as hub, joined(hub, version=version) as first:
        session = await first.new_session(str(tmp_path))
        await first.response(first.prompt(session, "hello"))
        await first.wait(lambda m: "agent_message_chunk" in str(m))
        async with joined(hub, version=version) as late:
            answer = await late.call("session/attach", {"sessionId": session})

            assert late.texts() == ["hello"]
            assert answer["cursor"].count(".") == 1


async def test_without_history_a_client_gets_only_later_events(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Worker), root=tmp_path) as hub, joined(hub) as first, joined(hub) as late:
        session = await first.new_session(str(tmp_path))
        await first.response(first.prompt(session, "before"))
        await late.call("session/attach", {"sessionId": session, "historyPolicy": "none"})
        await late.response(late.prompt(session, "after"))

        assert late.texts() == ["after"]


async def test_prompts_of_two_drivers_run_one_after_the_other(tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Worker), root=tmp_path, shared_sessions=True) as hub,
        joined(hub) as alice,
        joined(hub, BOB) as bob,
    ):
        session = await alice.new_session(str(tmp_path))
        await bob.call("session/resume", load(session, tmp_path))
        first = alice.prompt(session, "wait")
        await alice.wait(lambda m: "waiting" in str(m))
        second = bob.prompt(session, "next")
        await bob.call("session/list")
        assert bob.texts() == ["waiting"]
        alice.notify("session/cancel", {"sessionId": session})

        assert (await alice.response(first))["result"]["stopReason"] == "cancelled"
        assert (await bob.response(second))["result"]["stopReason"] == "end_turn"
        assert alice.texts() == ["waiting", "next"]
        authors = [m["params"]["_meta"]["accord/by"] for m in alice.messages if "accord/by" in str(m)]
        assert authors == ["bob"]


async def test_other_principals_cannot_see_or_guess_a_session(version: int, tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Worker), root=tmp_path) as hub,
        joined(hub, version=version) as alice,
        joined(hub, BOB, version=version) as bob,
    ):
        session = await alice.new_session(str(tmp_path))
        missing = await bob.fail("session/resume", load("no-such-session", tmp_path))
        for method in ("session/resume", "session/attach", "session/prompt", "session/close", "session/delete"):
            error = await bob.fail(method, {**load(session, tmp_path), "prompt": []})

            assert error["code"] == missing["code"] == -32002
            assert error["message"] == missing["message"].replace("no-such-session", session)
        assert (await bob.call("session/list"))["sessions"] == []
        assert [each["sessionId"] for each in (await alice.call("session/list"))["sessions"]] == [session]


async def test_an_admin_sees_every_session(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Worker), root=tmp_path) as hub, joined(hub) as alice, joined(hub, ADMIN) as admin:
        session = await alice.new_session(str(tmp_path))

        assert [each["sessionId"] for each in (await admin.call("session/list"))["sessions"]] == [session]
        await admin.call("session/load", load(session, tmp_path))
        await admin.response(admin.prompt(session, "hi"))
        assert alice.texts() == ["hi"]


async def test_the_owner_can_share_a_session_with_one_principal(tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Worker), root=tmp_path) as hub,
        joined(hub) as alice,
        joined(hub, BOB) as bob,
        joined(hub, CAROL) as carol,
    ):
        session = await alice.new_session(str(tmp_path))
        await alice.call("_accord/share", {"sessionId": session, "principal": "bob", "role": "watcher"})
        await bob.call("session/load", load(session, tmp_path))

        assert "watching" in (await bob.fail("session/prompt", {"sessionId": session, "prompt": []}))["message"]
        assert (await bob.fail("_accord/share", {"sessionId": session, "principal": "carol"}))["code"] == -32600
        assert (await carol.fail("session/load", load(session, tmp_path)))["code"] == -32002
        await alice.call("_accord/share", {"sessionId": session, "principal": "bob"})
        await alice.response(alice.prompt(session, "private"))
        assert (await bob.fail("session/load", load(session, tmp_path)))["code"] == -32002
        assert bob.texts() == []


async def test_a_watcher_may_not_prompt_cancel_answer_or_change(tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Worker), root=tmp_path, shared_sessions=True) as hub,
        joined(hub) as alice,
        joined(hub, WATCHER) as watcher,
    ):
        session = await alice.new_session(str(tmp_path))
        await watcher.call("session/load", load(session, tmp_path))
        for method in ("session/prompt", "session/set_mode", "session/close", "session/delete", "_x/y"):
            assert (await watcher.fail(method, {"sessionId": session, "prompt": []}))["code"] == -32600
        assert (await watcher.fail("session/new", {"cwd": str(tmp_path), "mcpServers": []}))["code"] == -32600
        prompt = alice.prompt(session, "ask")
        request = await alice.wait_for(PERMISSION)
        watcher.notify("session/cancel", {"sessionId": session})
        await watcher.call("session/list")
        alice.answer(request, choose(request, "allow_once"))

        assert (await alice.response(prompt))["result"]["stopReason"] == "end_turn"
        assert alice.texts() == ["allowed"]
        assert PERMISSION not in str(watcher.messages)


async def test_an_observer_is_a_watcher_even_if_it_could_drive(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Worker), root=tmp_path) as hub, joined(hub) as alice, joined(hub) as other:
        session = await alice.new_session(str(tmp_path))
        await other.call("session/attach", {"sessionId": session, "role": "observer"})

        assert "watching" in (await other.fail("session/prompt", {"sessionId": session, "prompt": []}))["message"]
        await other.call("session/detach", {"sessionId": session})
        await alice.response(alice.prompt(session, "hello"))
        assert other.texts() == []


async def ask_both(alice: HubClient, bob: HubClient, cwd: Path) -> tuple[int, str]:
    """Let both clients open a session, and the agent ask for permission."""
    session = await alice.new_session(str(cwd))
    await bob.call("session/resume", load(session, cwd))
    return alice.prompt(session, "ask"), session


async def test_the_first_answer_counts_and_the_others_are_informed(tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Worker), root=tmp_path, shared_sessions=True) as hub,
        joined(hub, name="a") as alice,
        joined(hub, BOB, name="b") as bob,
    ):
        prompt, _ = await ask_both(alice, bob, tmp_path)
        request, other = await alice.wait_for(PERMISSION), await bob.wait_for(PERMISSION)
        bob.answer(other, choose(other, "allow_once"))
        await alice.response(prompt)
        cancelled = await alice.wait_for("$/cancel_request")
        resolved = await alice.wait_for("_accord/permission_resolved")

        assert alice.texts() == ["allowed"]
        assert cancelled["params"]["requestId"] == request["id"]
        assert resolved["params"]["by"] == "bob"
        assert resolved["params"]["request"] == request["params"]["_meta"]["accord/request"]
        assert resolved["params"]["outcome"]["outcome"] == "selected"
        seen = len(alice.messages)
        alice.answer(request, choose(request, "reject_once"))
        late = await alice.wait_for("_accord/permission_resolved", seen)
        assert late["params"]["by"] == "bob"


async def test_only_the_originator_answers_under_that_policy(tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Worker), root=tmp_path, shared_sessions=True, permissions="originator") as hub,
        joined(hub) as alice,
        joined(hub, BOB) as bob,
    ):
        prompt, _ = await ask_both(alice, bob, tmp_path)
        request = await alice.wait_for(PERMISSION)
        alice.answer(request, choose(request, "reject_once"))
        await alice.response(prompt)

        assert alice.texts() == ["refused"]
        assert PERMISSION not in str(bob.messages)


async def test_a_quorum_counts_principals_and_not_clients(tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Worker), root=tmp_path, shared_sessions=True, permissions="quorum:2") as hub,
        joined(hub) as alice,
        joined(hub) as alice_again,
        joined(hub, BOB) as bob,
    ):
        session = await alice.new_session(str(tmp_path))
        await alice_again.call("session/resume", load(session, tmp_path))
        await bob.call("session/resume", load(session, tmp_path))
        prompt = alice.prompt(session, "ask")
        for client in (alice, alice_again):
            request = await client.wait_for(PERMISSION)
            client.answer(request, choose(request, "allow_once"))
            await client.call("session/list")
        assert hub.sessions[0].is_busy
        request = await bob.wait_for(PERMISSION)
        bob.answer(request, choose(request, "allow_once"))
        await alice.response(prompt)

        assert alice.texts() == ["allowed"]


async def test_only_a_role_answers_under_that_policy(tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Worker), root=tmp_path, permissions="role:admin") as hub,
        joined(hub) as alice,
        joined(hub, ADMIN) as admin,
    ):
        prompt, _ = await ask_both(alice, admin, tmp_path)
        request = await admin.wait_for(PERMISSION)
        admin.answer(request, choose(request, "allow_once"))
        await alice.response(prompt)

        assert alice.texts() == ["allowed"]
        assert PERMISSION not in str(alice.messages)


@pytest.mark.parametrize("text", ["", "second", "quorum:0", "quorum:x", "role:watcher", "role"])
def test_an_unknown_permission_policy_is_rejected(text: str, tmp_path: Path) -> None:
    from accord import ConfigError

    with pytest.raises(ConfigError, match="expected first, originator"):
        Hub(InProcessSpawner(Worker), root=tmp_path, permissions=text)


async def test_a_client_that_joins_late_gets_the_open_permission_request(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Worker), root=tmp_path) as hub:
        async with joined(hub, name="a") as first:
            session = await first.new_session(str(tmp_path))
            first.prompt(session, "ask", key="1")
            asked = await first.wait_for(PERMISSION)
        async with joined(hub, name="a") as second:
            await second.call("session/resume", load(session, tmp_path))
            again = await second.wait_for(PERMISSION)
            assert again["params"]["_meta"]["accord/request"] == asked["params"]["_meta"]["accord/request"]
            second.answer(again, choose(again, "allow_once"))
            response = await second.response(second.prompt(session, "ask", key="1"))

            assert response["result"]["stopReason"] == "end_turn"
            assert second.texts() == ["allowed"]


async def test_cancelling_a_turn_resolves_its_permission_requests(version: int, tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Worker), root=tmp_path) as hub, joined(hub, version=version) as client:
        session = await client.new_session(str(tmp_path))
        client.prompt(session, "ask")
        request = await client.wait_for(PERMISSION)
        client.notify("session/cancel", {"sessionId": session})
        await client.wait(lambda m: "cancelled" in str(m))

        cancelled = await client.wait_for("$/cancel_request")
        assert cancelled["params"]["requestId"] == request["id"]


async def test_a_cancelled_request_reaches_the_agent(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Worker), root=tmp_path) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        prompt = client.prompt(session, "wait")
        await client.wait(lambda m: "waiting" in str(m))
        client.notify("$/cancel_request", {"requestId": prompt})

        response = await client.response(prompt)
        assert "cancelled" in str(response).casefold()
