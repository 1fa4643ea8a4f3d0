"""The commands of the showcase as users see them, in both versions unless stated otherwise."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import struct
import sys
import wave
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from showcase.schema_check import Watched
from support.link import Link, until
from support.loop_clock import LoopClock
from support.wire_client import ask, begin_session, hello

import accord
from accord import InvalidParams, RequestFailed
from accord.client.session import Session
from accord.client.turn import Turn
from accord.showcase.agent import Showcase
from accord.showcase.terminals import COUNT, FAIL, PAINT, TALK, WAIT
from accord.showcase.tools import KINDS
from accord.testing import ScriptedClient, wire_client
from accord.testing import link as link_in


async def events(session: Session, prompt: str) -> tuple[Turn, list[Any]]:
    """A whole turn, and everything that happened in it."""
    turn = session.prompt(prompt)
    return turn, [event async for event in turn]


# -- words and content


async def test_thoughts_and_words_take_turns(link: Link) -> None:
    async with link(Showcase()) as client:
        session = await client.new_session()
        await session.prompt("/thoughts")

    roles = [message.role for message in session.transcript.snapshot().messages if message.role != "user"]
    assert roles == ["thought", "agent", "thought", "agent"]


async def test_a_grapheme_may_come_in_pieces(link: Link) -> None:
    async with link(Showcase()) as client:
        turn = await (await client.new_session()).prompt("/unicode")

    assert "e\u0301 \U0001f469\u200d\U0001f680" in turn.text
    assert "\u202e" in turn.text and "한국어" in turn.text and "\U0010ffff" in turn.text
    assert max(map(len, turn.text.splitlines())) > 900


@pytest.mark.parametrize("argument, kilobytes", [("", 256), ("3", 3), ("a lot", 256), ("-1", 256)])
async def test_a_big_message_is_as_big_as_asked(link: Link, argument: str, kilobytes: int) -> None:
    async with link(Showcase()) as client:
        _, seen = await events(await client.new_session(), f"/big {argument}")

    pieces = [event.text for event in seen if isinstance(event, accord.Text)]
    assert len(pieces[-1]) == kilobytes * 1024


async def test_a_slow_stream_can_be_cancelled(link: Link) -> None:
    async with link(Showcase()) as client:
        session = await client.new_session()
        turn = session.prompt("/slow 3600")
        async for event in turn:
            if isinstance(event, accord.Text) and "1 of" in event.text:
                await turn.cancel()
        again = await session.prompt("/refusal")

    assert turn.stop_reason == "cancelled"
    assert "stopped" in turn.text
    assert again.stop_reason == "refusal"


async def test_a_whole_message_takes_the_place_of_another(link: Link, version: int) -> None:
    async with link(Showcase()) as client:
        turn = await (await client.new_session()).prompt("/v2-message")

    assert turn.text.endswith("The message that stays.")
    assert turn.text.startswith("A draft") == (version == 1)


async def test_a_whole_thought_takes_the_place_of_another(link: Link, version: int) -> None:
    watched = Watched()
    async with link(Showcase()) as client:
        client.connection.watch(watched)
        session = await client.new_session()
        await session.prompt("/v2-message")

    thoughts = [message.text for message in session.transcript.snapshot().messages if message.role == "thought"]
    whole = [update for update in watched.updates if update["sessionUpdate"] == "agent_thought"]
    if version == 1:
        assert thoughts == ["A first thought.The thought that stays."] and not whole
    else:
        assert thoughts == ["The thought that stays."] and len(whole) == 2


async def test_the_image_is_a_valid_png(link: Link) -> None:
    async with link(Showcase()) as client:
        turn, seen = await events(await client.new_session(), "/image")

    pictures = [event.content for event in seen if isinstance(event, accord.Media)]
    assert [picture.mime_type for picture in pictures] == ["image/png", "image/svg+xml"]
    data = base64.b64decode(pictures[0].data)
    width, height = struct.unpack(">II", data[16:24])
    (size,) = struct.unpack(">I", data[33:37])
    assert data.startswith(b"\x89PNG") and data[37:41] == b"IDAT"
    assert len(zlib.decompress(data[41 : 41 + size])) == height * (width * 4 + 1)
    assert struct.unpack(">I", data[41 + size : 45 + size])[0] == zlib.crc32(data[37 : 41 + size])
    assert any(isinstance(item, accord.Image) for item in turn.tool_calls[0].content)


async def test_the_sound_is_a_whole_wav(link: Link) -> None:
    async with link(Showcase()) as client:
        _, seen = await events(await client.new_session(), "/audio")

    (sound,) = [event.content for event in seen if isinstance(event, accord.Media)]
    with wave.open(io.BytesIO(base64.b64decode(sound.data))) as reader:
        assert reader.getnframes() / reader.getframerate() == 0.5


async def test_resources_come_as_text_as_bytes_and_as_links(link: Link) -> None:
    async with link(Showcase()) as client:
        _, seen = await events(await client.new_session("/a project"), "/resource")

    found = [event.content for event in seen if isinstance(event, accord.Media)]
    text, blob = [piece.resource for piece in found if isinstance(piece, accord.Resource)]
    assert (text.uri, text.blob) == ("file:///a%20project/notes.md", None)
    assert base64.b64decode(blob.blob or "") == bytes(range(256))
    far, near = [piece for piece in found if isinstance(piece, accord.ResourceLink)]
    assert far.annotations and far.size and near.uri.endswith("/notes.md")


# -- progress


async def test_the_plan_has_every_status_and_priority_and_a_second_one_comes_and_goes(link: Link, version: int) -> None:
    async with link(Showcase(), unstable=True) as client:
        _, seen = await events(await client.new_session(), "/plan")

    plans = [event for event in seen if isinstance(event, accord.Plan)]
    entries = [entry for plan in plans for entry in plan.entries]
    given_up = {"cancelled"} if version == 2 else set()
    assert {entry.status for entry in entries} == {"pending", "in_progress", "completed"} | given_up
    assert {entry.priority for entry in entries} == {"high", "medium", "low"}
    assert any(plan.markdown for plan in plans) and any(plan.uri for plan in plans)
    assert [event.id for event in seen if type(event).__name__ == "PlanRemoved"] == ["notes", "file"]


async def test_an_abandoned_step_is_reported_as_each_version_shows_it(link: Link, version: int) -> None:
    async with link(Showcase()) as client:
        turn, seen = await events(await client.new_session(), "/plan")

    last = [event for event in seen if isinstance(event, accord.Plan) and event.entries][-1].entries[-1]
    if version == 1:
        assert (last.status, turn.text) == (
            "completed",
            "Three steps are completed, and one is cancelled (version 1 shows it as completed).",
        )
    else:
        assert (last.status, turn.text) == ("cancelled", "Three steps are completed, and one is cancelled.")


async def test_usage_tells_the_context_the_cost_and_the_tokens(link: Link) -> None:
    async with link(Showcase(), unstable=True) as client:
        turn = await (await client.new_session()).prompt("/usage")

    assert turn.usage is not None and turn.usage.cost is not None and turn.tokens is not None
    assert (turn.usage.used, turn.usage.cost.currency, turn.tokens.total) == (20_000, "credits", 1500)


async def test_notices_have_every_severity(link: Link) -> None:
    async with link(Showcase()) as client:
        _, seen = await events(await client.new_session(), "/notice")

    assert [event.severity for event in seen if isinstance(event, accord.Notice)] == ["info", "warning", "error"]


async def test_one_compaction_works_and_one_fails(link: Link) -> None:
    async with link(Showcase()) as client:
        session = await client.new_session()
        await session.prompt("/compaction")

    worked, failed = session.transcript.compactions.values()
    assert (worked.status, failed.status, failed.error) == ("completed", "failed", "nothing left to compact")


async def test_the_title_is_the_one_asked_for(link: Link) -> None:
    async with link(Showcase()) as client:
        session = await client.new_session()
        await session.prompt("/title  A new   name ")

    assert session.title == "A new name"


# -- tools


async def test_tools_have_every_kind_and_status_and_many_run_at_once(link: Link, version: int) -> None:
    async with link(Showcase()) as client:
        turn, seen = await events(await client.new_session("/project"), "/tools 5")

    by_kind = {call.kind: call for call in turn.tool_calls if call.title.startswith("Kind")}
    assert set(by_kind) == set(KINDS)
    read = by_kind["read"]
    assert (read.locations[0].path, read.locations[0].line) == ("/project/src/example.py", 7)
    assert read.raw_input["nested"]["text"] == "ünïcödé" and read.raw_output == {"lines": 3, "ok": True}
    told = {event.status for event in seen if isinstance(event, accord.ToolCall)}
    beyond = {"paused", "cancelled"} if version == 2 else set()
    assert told == {"pending", "in_progress", "completed", "failed"} | beyond
    parallel = [call for call in turn.tool_calls if call.title.startswith("Parallel")]
    assert [len(call.content) for call in parallel] == [3] * 5


async def test_diffs_add_change_delete_move_and_touch_several_files(link: Link, version: int) -> None:
    async with link(Showcase()) as client:
        turn = await (await client.new_session("/project")).prompt("/diff")

    changes = [change for call in turn.tool_calls for diff in call.diffs for change in diff.changes]
    if version == 2:
        assert {change.operation for change in changes} == {"add", "modify", "delete", "move", "copy"}
        assert max(len(diff.changes) for call in turn.tool_calls for diff in call.diffs) == 4
    else:
        assert {change.operation for change in changes} == {"add", "modify"}  # a deletion is a change to nothing
    assert "/project/hello/greet.py" in [change.path for change in changes]


# -- questions


@pytest.mark.parametrize("kind", ["allow_once", "allow_always", "reject_once", "reject_always"])
async def test_every_kind_of_option_can_be_chosen_and_is_reported(link: Link, kind: str) -> None:
    script = ScriptedClient(permissions=[kind])
    async with link(Showcase(), script) as client:
        turn = await (await client.new_session()).prompt("/permission options")

    assert [option.kind for option in script.asked[0].options] == [
        "allow_once", "allow_always", "reject_once", "reject_always",
    ]  # fmt: skip
    assert f"({kind}), which {'allows' if kind.startswith('allow') else 'rejects'} it" in turn.text


async def test_permission_is_asked_with_a_diff_and_with_a_command(link: Link, version: int) -> None:
    script = ScriptedClient(permissions=[False, None])
    async with link(Showcase(), script) as client:
        session = await client.new_session()
        refused = await session.prompt("/permission diff")
        cancelled = await session.prompt("/permission command")

    about = script.asked[0].tool_call
    assert about is not None and about.diffs and refused.tool_calls[0].status == "failed"
    assert "rejects" in refused.text and "cancelled" in cancelled.text
    asked = script.asked[1]
    shown = asked.command if version == 2 else asked.tool_call and asked.tool_call.raw_input["command"]
    assert shown and shown.startswith("make test")


async def test_the_form_has_every_kind_of_field_and_the_answer_is_reported(link: Link) -> None:
    script = ScriptedClient(replies=[{"name": "Ada", "days": ["mo"]}])
    async with link(Showcase(), script) as client:
        turn = await (await client.new_session()).prompt("/elicit form")

    fields = script.elicited[0].schema["properties"].values()
    assert {field["type"] for field in fields} == {"string", "integer", "number", "boolean", "array"}
    assert '"days": [\n    "mo"' in turn.text


async def test_a_page_can_be_requested_and_reported_as_done(link: Link) -> None:
    done: list[Any] = []
    script = ScriptedClient(replies=[{}])
    extensions = {"elicitation/complete": done.append}
    async with link(Showcase(), script, extensions=extensions) as client:
        await (await client.new_session()).prompt("/elicit url")

    assert script.elicited[0].url == "https://example.com/"
    assert [told["elicitationId"] for told in done] == [script.elicited[0].id]


async def test_a_question_while_a_session_opens_names_the_request_and_is_asked_once(link: Link) -> None:
    script = ScriptedClient(replies=[{"color": "red"}])
    async with link(Showcase(), script) as client:
        await (await client.new_session()).prompt("/elicit-opening")
        asked = await client.new_session()
        await until(lambda: asked.transcript.text)
        unasked = await client.new_session()
        await unasked.prompt("/refusal")

    (question,) = script.elicited
    assert question.request_id is not None and question.session_id is None
    assert asked.transcript.text.startswith("Asked while opening: accept with") and '"red"' in asked.transcript.text
    assert "Asked while opening" not in unasked.transcript.text


async def test_a_client_without_forms_is_asked_nothing_while_a_session_opens(link: Link) -> None:
    async with link(Showcase()) as client:
        turn = await (await client.new_session()).prompt("/elicit-opening")
        opened = await client.new_session()
        await opened.prompt("/refusal")

    assert turn.text.startswith("This client doesn't support forms")
    assert opened.transcript.text == "I would rather not."


# -- terminals and files


async def test_commands_run_in_the_clients_terminals_where_it_has_them() -> None:
    def line(script: str) -> str:
        return f"{sys.executable} -I -c {script}"

    commands: dict[str, tuple[str, int | None]] = {
        line(PAINT): ("colors", 0), line(COUNT): ("100%", 0), line(FAIL): ("wrong", 3),
        line(TALK): ("line\n" * 99, 0), line(WAIT): ("waiting", None),
    }  # fmt: skip
    script = ScriptedClient(commands=commands)
    async with link_in(Showcase(), script, version=1) as client:
        turn = await (await client.new_session()).prompt("/terminal")

    assert "Progress: exit code 0." in turn.text and "A failing command: exit code 3." in turn.text
    assert "Limited: 64 bytes, truncated." in turn.text and "Killed: signal SIGTERM" in turn.text
    assert [call.status for call in turn.tool_calls] == ["completed", "completed", "failed", "completed", "completed"]
    assert len(script.released) == 5


async def test_the_agents_own_terminals_show_colors_and_how_they_end(link: Link, version: int) -> None:
    async with link(Showcase()) as client:
        session = await client.new_session()
        turn = await session.prompt("/terminal")

    assert [call.status for call in turn.tool_calls] == ["completed", "failed", "failed"]
    if version == 1:
        assert "\x1b[31m" in turn.tool_calls[0].content[0].text  # type: ignore[union-attr]
        return
    painted, failed, killed = session.transcript.terminals.values()
    assert "\x1b[31m" in painted.text and "100%" in painted.text and "ü" in painted.text
    assert (painted.columns, painted.rows) == (80, 24)
    ends = [(terminal.exit.code, terminal.exit.signal) for terminal in (painted, failed, killed) if terminal.exit]
    assert ends == [(0, None), (3, None), (None, "SIGKILL")]


async def test_files_are_written_and_read_through_the_client_if_the_user_allows() -> None:
    allowed, refused = ScriptedClient(), ScriptedClient(permissions=[False])
    for script in (allowed, refused):
        async with link_in(Showcase(), script, version=1) as client:
            turn = await (await client.new_session("/project")).prompt("/files")
            assert "A missing file: error -32002" in turn.text

    assert allowed.files == {"/project/accord-showcase.txt": "one\ntwo\nthree\n"}
    assert refused.files == {}


# -- settings


async def test_the_mode_changes_when_the_user_lets_it(link: Link) -> None:
    async with link(Showcase(), ScriptedClient(permissions=[True, False])) as client:
        session = await client.new_session()
        await session.prompt("/modes")
        mode = session.option("mode")
        assert mode is not None and mode.value == "architect"
        turn = await session.prompt("/modes")

    assert turn.tool_calls[0].status == "failed" and "The mode is architect" in turn.text


async def test_a_new_family_brings_its_own_species(link: Link) -> None:
    async with link(Showcase()) as client:
        session = await client.new_session()
        await session.set_option("family", "trees")
        species = session.option("species")
        assert species is not None and species.value == "oak"
        await session.set_option("species", "yew")
        turn = await session.prompt("/options")
        after = {option.id: option.value for option in session.options}
        model = session.option("model")

    assert (after["family"], after["species"], after["verbose"], after["effort"]) == ("birds", "wren", True, "high")
    assert '"species": "wren"' in turn.text
    assert model is not None and {choice.group for choice in model.choices} == {"small", "large"}


async def test_clients_from_before_config_options_can_choose_the_model() -> None:
    async with wire_client(Showcase()) as peer:
        await hello(peer, 1)
        opened = (await peer.call("session/new", {"cwd": "/project", "mcpServers": []}))["result"]
        chosen = {"sessionId": opened["sessionId"], "modelId": "large-1"}
        await peer.call("session/set_model", chosen)
        loaded = await peer.call(
            "session/load", {"sessionId": opened["sessionId"], "cwd": "/project", "mcpServers": []}
        )

    assert opened["models"]["currentModelId"] == "small-1"
    assert [model["modelId"] for model in opened["models"]["availableModels"]] == ["small-1", "small-2", "large-1"]
    assert loaded["result"]["models"]["currentModelId"] == "large-1"


async def test_a_command_comes_and_goes(link: Link) -> None:
    async with link(Showcase()) as client:
        session = await client.new_session()
        await session.prompt("/commands")
        there = [command.name for command in session.commands]
        found = await session.prompt("/extra now")
        await session.prompt("/commands")
        gone = [command.name for command in session.commands]

    assert "extra" in there and "extra" not in gone
    assert found.text == "You found /extra."


async def test_secrets_of_servers_are_not_shown(link: Link) -> None:
    server = accord.McpServer(name="files", command="/bin/serve", env={"TOKEN": "hunter2"})
    async with link(Showcase(), mcp_servers=[server]) as client:
        turn = await (await client.new_session()).prompt("/session")

    assert '"name": "files"' in turn.text and "hunter2" not in turn.text


# -- accounts


async def test_a_login_is_demanded_until_there_was_one(link: Link) -> None:
    async with link(Showcase()) as client:
        session = await client.new_session()
        with pytest.raises(accord.AuthRequired):
            await session.prompt("/auth")
        await client.login("pretend")
        turn = await session.prompt("/auth")

    assert turn.text.startswith("You are logged in.")


@pytest.mark.req("V1-AUTH-22")
async def test_after_a_logout_nothing_is_left_of_the_login(link: Link) -> None:
    agent = Showcase()
    async with link(agent, unstable=True) as client:
        session = await client.new_session()
        await client.login("pretend")
        await client.logout()
        with pytest.raises(accord.AuthRequired):
            await session.prompt("/auth")
    for again in (agent, Showcase()):
        async with link(again, unstable=True) as client:
            assert await client.auth_status() == accord.AuthStatus(state="unauthenticated")
            with pytest.raises(accord.AuthRequired):
                await (await client.new_session()).prompt("/auth")


@pytest.mark.req("V1-AUTH-29")
async def test_the_login_state_is_returned_and_reported(link: Link) -> None:
    async with link(Showcase(), unstable=True) as client, client.events() as events:
        before = await client.auth_status()
        await client.login("pretend")
        after = await client.auth_status()
        await (await client.new_session()).prompt("/auth-status")
        await client.logout()
        last = await client.auth_status()
        reported = [await anext(events) for _ in range(3)]

    assert [status.state for status in (before, after, last)] == ["unauthenticated", "authenticated", "unauthenticated"]
    assert [(account.name, account.active) for account in after.accounts] == [("Ada", True)] and not last.accounts
    assert [each.state for each in reported if isinstance(each, accord.AuthStatus)] == [
        "authenticated", "unknown", "authenticated",
    ]  # fmt: skip


@pytest.mark.req("V1-ELIC-29", "V1-ELIC-30")
async def test_a_login_on_a_page_asks_for_a_name_first(link: Link) -> None:
    asked: list[accord.Elicitation] = []

    def answer(question: accord.Elicitation) -> dict[str, Any]:
        asked.append(question)
        return {"name": "Grace"} if question.mode == "form" else {}

    async with link(Showcase(), unstable=True, elicitation=answer) as client, client.events() as events:
        await client.login("page")
        done, status = await anext(events), await anext(events)

    form, page = asked
    place = urlsplit(page.url or "")
    assert (place.scheme, place.hostname) == ("https", "example.com")
    assert not (place.username or place.query or place.fragment), "nothing about the user, and no access"
    assert "://" not in form.message + str(form.schema), "fields have no links"
    assert isinstance(done, accord.PageDone)
    assert isinstance(status, accord.AuthStatus) and status.accounts[0].name == "Grace"


@pytest.mark.req("V1-PROV-10", "V1-PROV-12")
async def test_providers_are_set_for_later_sessions_and_forgotten_with_the_process(
    link: Link, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    place = "https://proxy.example.com/v1"
    async with link(Showcase(), unstable=True) as client:
        before = await client.list_providers()
        await client.set_provider("main", api_type="openai", base_url=place)
        turn = await (await client.new_session()).prompt("/providers")
    async with link(Showcase(), unstable=True) as client:
        after = await client.list_providers()

    assert f"main: openai at {place}" in turn.text
    assert after == before
    assert os.listdir(tmp_path) == []


async def test_providers_are_set_and_disabled_and_their_headers_never_sent(link: Link) -> None:
    place = "https://proxy.example.com/v1"
    async with link(Showcase(), unstable=True) as client:
        await client.set_provider("spare", api_type="azure", base_url=place, headers={"api-key": "hunter2"})
        listed = await client.list_providers()
        turn = await (await client.new_session()).prompt("/providers")
        await client.disable_provider("spare")
        await client.disable_provider("nobody")
        left = await client.list_providers()

    assert [provider.id for provider in listed] == ["main", "spare"]
    assert listed[1].current == accord.ProviderConfig(api_type="azure", base_url=place)
    assert place in turn.text and "hunter2" not in turn.text + repr(listed)
    assert [provider.current is not None for provider in left] == [True, False]


async def test_providers_that_cannot_be_set_or_disabled_are_refused_and_stay(link: Link) -> None:
    place = "https://proxy.example.com/v1"
    async with link(Showcase(), unstable=True) as client:
        before = await client.list_providers()
        with pytest.raises(InvalidParams, match="no provider 'nobody'"):
            await client.set_provider("nobody", api_type="openai", base_url=place)
        with pytest.raises(InvalidParams, match="supports openai, azure"):
            await client.set_provider("spare", api_type="vertex", base_url=place)
        with pytest.raises(InvalidParams, match="is required"):
            await client.dialect.disable_provider("main")  # the public method sends nothing
        after = await client.list_providers()

    assert after == before


# -- endings


@pytest.mark.parametrize("which, code", [("", -31050), ("rpc", -31050), ("crash", -32603)])
async def test_errors_reach_the_client_and_the_session_continues(link: Link, which: str, code: int) -> None:
    async with link(Showcase()) as client:
        session = await client.new_session()
        with pytest.raises(RequestFailed) as raised:
            await session.prompt(f"/error {which}")
        after = await session.prompt("/error tool")

    assert raised.value.code == code
    assert after.stop_reason == "end_turn" and after.tool_calls[0].status == "failed"


# -- beyond


async def test_unknown_types_are_preserved(link: Link) -> None:
    async with link(Showcase()) as client:
        session = await client.new_session()
        await session.prompt("/unknown")

    assert session.transcript.unknown[0].data["text"] == "an update of an unknown type"


async def test_an_extension_is_answered_by_clients_that_support_it(link: Link) -> None:
    notes: list[Any] = []
    known = {"_accord.showcase/echo": lambda params: params["text"], "_accord.showcase/note": notes.append}
    async with link(Showcase(), extensions=known) as client:
        turn = await (await client.new_session()).prompt("/extension")

    assert 'answered with "hello"' in turn.text and notes[0]["text"] == "for your information"


async def test_a_subagent_speaks_in_its_own_session_and_can_be_cancelled(link: Link) -> None:
    async with link(Showcase(), unstable=True) as client:
        session = await client.new_session()
        turn = session.prompt("/subagent 3600")
        async for event in turn:
            if isinstance(event, accord.Subagent) and event.state == "running":
                child = client.sessions[event.session_id]
                await until(lambda child=child: child.transcript.tool_calls)
                await child.cancel()

    (message,) = child.transcript.session_messages.values()
    assert message.data == {"sender_session_id": session.id, "recipient_session_id": child.id}
    assert "".join(piece.text for piece in message.content) == "Look for something that doesn't exist."
    assert turn.text == "The child was cancelled."
    assert child.transcript.text.endswith("The search is complete.")


# -- version 2


async def test_the_state_tells_when_the_user_must_act() -> None:
    async with link_in(Showcase(), ScriptedClient(), version=2) as client:
        _, seen = await events(await client.new_session(), "/v2-state")

    states = [event.state for event in seen if isinstance(event, accord.StateChanged)]
    assert states == ["running", "requires_action", "running", "idle"]


async def test_one_tool_call_is_cancelled_and_the_turn_continues() -> None:
    async with link_in(Showcase(), version=2) as client:
        session = await client.new_session()
        turn = session.prompt("/v2-cancel 3600")
        async for event in turn:
            if isinstance(event, accord.ToolCall) and event.status == "in_progress":
                await session.cancel_tool_call(event.id)

    assert turn.stop_reason == "end_turn" and turn.text.startswith("The tool call was cancelled")
    assert turn.tool_calls[0].status == "cancelled"


@pytest.mark.parametrize("stopped", [True, False], ids=["stopped", "left alone"])
async def test_a_terminal_outlives_its_turn(stopped: bool) -> None:
    async with link_in(Showcase(), version=2) as client:
        session = await client.new_session()
        async with session.events() as heard:
            await session.prompt(f"/v2-background {3600 if stopped else 0.01}")
            (terminal,) = session.transcript.terminals.values()
            if stopped:
                assert [work.id for work in session.transcript.background or []] == [terminal.id]
                await session.cancel_terminal(terminal.id)
            async for event in heard:
                if isinstance(event, accord.Text) and event.text.startswith("The terminal"):
                    break

    assert terminal.exit is not None and terminal.exit.signal == ("SIGTERM" if stopped else None)
    assert session.transcript.background == []
    assert ("stopped" in event.text) == stopped


async def test_work_in_the_background_ends_with_its_session(link: Link) -> None:
    async with link(Showcase()) as client:
        session = await client.new_session()
        await session.prompt("/v2-background 3600")
        assert in_background(session)
        await session.close()
        await until(lambda: not in_background(session))


def in_background(session: Session) -> list[Any]:
    """Return the agent's tasks that run outside the turns of a session."""
    return [task for task in asyncio.all_tasks() if task.get_name() == f"background of {session.id}"]


async def test_an_unknown_part_shows_all_parts(link: Link) -> None:
    async with link(Showcase()) as client:
        turn = await (await client.new_session()).prompt("/permission everything")

    assert turn.text.startswith("The parts are options, diff, command; showing all of them.")
    assert len(turn.tool_calls) == 3


class Mute(ScriptedClient):
    """Starts and kills commands, but never reports their end, however long one waits for it."""

    def __init__(self, clock: LoopClock) -> None:
        super().__init__()
        self._clock = clock

    async def wait_for_exit(self, session_id: str, terminal_id: str) -> Any:
        self._clock.advance(20)
        await asyncio.Event().wait()


async def test_a_client_that_never_reports_the_end_of_a_command_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Mute(LoopClock(monkeypatch))
    async with link_in(Showcase(client_timeout=20), client, version=1) as agent:
        turn = await (await agent.new_session()).prompt("/terminal client")

    assert turn.stop_reason == "end_turn"
    assert turn.text.count("no answer from the client within 20 s") == 5
    assert len(client.released) == len(client.started) == 5
    assert all(call.is_final for call in turn.tool_calls)


async def test_a_client_that_never_answers_an_unknown_request_is_not_waited_for() -> None:
    async with wire_client(Showcase(client_timeout=0.01)) as peer:
        session = await begin_session(peer, 1)
        answer = await peer.answer_to(await ask(peer, session, "/extension"))

    assert answer["result"]["stopReason"] == "end_turn"
    assert "no answer from the client within 0.01 s" in json.dumps(peer.updates)
