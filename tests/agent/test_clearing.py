"""Fields that an agent clears, and messages between sessions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from support.link import Link
from support.stored_sessions import Kept
from support.wire_client import begin_session, turn

from accord import (
    Agent,
    CapabilityError,
    Choice,
    Command,
    Icon,
    InfoChanged,
    InvalidValue,
    Media,
    MessageSet,
    Option,
    PermissionRequest,
    ResourceLink,
    Subagent,
    SubagentMessage,
    ToolCall,
    Turn,
)
from accord.model.content import UnknownContent, text_of
from accord.testing import wire_client


class Daring(Kept):
    unstable = True


def play(act: Callable[[Turn], Any]) -> Daring:
    async def speak(turn: Turn) -> None:
        await act(turn)

    return Daring([speak])


@pytest.mark.feature("clearing fields", "agent", "client")
@pytest.mark.req("V2-TOOL-03")
async def test_fields_of_a_tool_call_can_be_cleared(link: Link, version: int) -> None:
    async def act(turn: Turn) -> None:
        tool = turn.tool("Read", kind="read", name="reader", locations=["/a:3"], raw_input={"x": 1})
        await tool.show("text")
        await tool.update(title=None, kind=None, name=None, locations=None, raw_input=None)
        await tool.set_content()
        assert (tool.title, tool.kind, tool.locations, tool.content) == ("", "other", [], [])

    agent = play(act)
    async with link(agent) as client:
        session = await client.new_session("/p")
        events = [event async for event in session.prompt("go")]
        again = await client.load_session(session.id, "/p")

    calls = [event for event in events if isinstance(event, ToolCall)]
    for call in (calls[-1], next(iter(again.transcript.tool_calls.values()))):
        assert (call.title, call.kind, call.locations, call.content) == ("", "other", [], [])
        if version == 2:  # version 1 has no way to clear these
            assert (call.name, call.raw_input) == (None, None)


@pytest.mark.req("V2-UPD-13")
async def test_messages_can_be_cleared_and_their_metadata_changed(link: Link, version: int) -> None:
    async def act(turn: Turn) -> None:
        id = turn.session.set_message("first", meta={"a": 1, "b": 2})
        turn.session.set_message(message_id=id, meta={"a": None})
        turn.session.set_message(None, message_id=id)
        await turn.say("after")

    agent = play(act)
    async with link(agent) as client:
        session = await client.new_session("/p")
        events = [event async for event in session.prompt("go")]
        again = await client.load_session(session.id, "/p")

    if version == 1:
        assert (
            text_of(
                session.transcript.messages[
                    "agent", next(id for role, id in session.transcript.messages if role == "agent")
                ].content
            )
            == "first"
        )
        return
    set_by_agent = [event for event in events if isinstance(event, MessageSet) and event.role == "agent"]
    assert [event.text for event in set_by_agent] == ["first", "first", ""]
    for transcript in (session.transcript, again.transcript):
        message = transcript.messages["agent", set_by_agent[0].message_id]
        assert (message.content, message.meta) == ([], {"b": 2})


@pytest.mark.feature("session information", "agent", "client")
@pytest.mark.req("V2-LIST-10")
async def test_the_time_and_title_of_a_session_can_be_set_and_cleared(link: Link) -> None:
    async def act(turn: Turn) -> None:
        await turn.session.set_info(title="T", updated_at=datetime(2026, 1, 2, tzinfo=UTC))
        await turn.session.set_info(updated_at=None, meta={"pinned": True})
        await turn.set_title(None)
        with pytest.raises(InvalidValue, match="no time zone"):
            await turn.session.set_info(updated_at=datetime(2026, 1, 2))

    async with link(play(act)) as client:
        session = await client.new_session()
        told = [event async for event in session.prompt("go") if isinstance(event, InfoChanged)]

    assert [(event.title, event.updated_at) for event in told[:2]] == [("T", "2026-01-02T00:00:00Z"), ("T", None)]
    assert told[1].meta == {"pinned": True}
    assert told[2].title is None


@pytest.mark.feature("messages between sessions", "agent", "client")
@pytest.mark.req("V1-SUBAG-08", "V1-SUBAG-01")
async def test_messages_between_a_session_and_its_subagent(link: Link) -> None:
    async def act(turn: Turn) -> None:
        child = turn.session.child(Subagent(session_id="child", state="running", additional_directories=["/lib"]))
        id = turn.session.session_message("Look for ", sender=turn.session, recipient=child, meta={"n": 1})
        await turn.session.session_message_chunk(id, "it.")
        turn.session.session_message(message_id=id, recipient_message_id="task-1")
        child.session_message(None, sender=turn.session.id, message_id="gone")

    async with link(play(act), unstable=True) as client:
        session = await client.new_session("/p")
        events = [event async for event in session.prompt("go")]
        again = await client.load_session(session.id, "/p")
    async with link(play(act)) as client:  # a client of version 1 without subagents gets none of it
        quiet = await client.new_session("/p")
        await quiet.prompt("go")

    told = [event for event in events if isinstance(event, SubagentMessage)]
    assert [text_of(event.content) for event in told][-1] == "Look for it."
    assert (told[-1].sender, told[-1].recipient, told[-1].meta) == (session.id, "child", {"n": 1})
    assert told[-1].data["recipient_message_id"] == "task-1"
    assert session.transcript.subagents["child"].additional_directories == ["/lib"]
    assert [text_of(each.content) for each in again.transcript.session_messages.values()] == ["Look for it."]
    assert quiet.transcript.session_messages == {} or client.version == 2


@pytest.mark.feature("custom variants", "agent", "client", versions=(2,))
async def test_options_commands_and_subjects_of_custom_types(link: Link, version: int) -> None:
    slider = {"type": "_example.org/slider", "min": 0, "max": 9, "currentValue": 4}
    form = {"type": "_example.org/form", "fields": ["a"]}
    deploy = {"type": "_example.org/deploy", "target": "prod"}
    requests: list[PermissionRequest] = []

    async def act(turn: Turn) -> None:
        choices = [Choice(value="a", name="A")]
        plain = Option(id="p", name="Plain", value="a", choices=choices)
        await turn.session.set_options([plain, Option(id="s", name="Heat", value="", other=slider)])
        filled = Command(name="fill", description="Fill", hint="a", input=form)
        await turn.session.set_commands([filled, Command(name="m", description="M", other={"type": "_macro"})])
        await turn.permit("Deploy?", subject=deploy)
        with pytest.raises(InvalidValue, match="custom type"):
            await turn.permit("Deploy?", subject={"type": "deploy"})
        with pytest.raises(InvalidValue, match=r"commands\[0\]\.input"):
            await turn.session.set_commands([Command(name="x", description="X", input={})])

    def permit(request: PermissionRequest) -> bool:
        requests.append(request)
        return True

    async with link(play(act), permissions=permit) as client:
        session = await client.new_session()
        await session.prompt("go")
        if version == 2:
            with pytest.raises(CapabilityError, match="isn't known here"):
                await session.set_option("s", "5")

    fill, macro = session.commands
    if version == 1:  # its unions are closed
        assert [option.id for option in session.options] == ["p"]
        assert (fill.hint, requests[0].other) == ("a", None)
        return
    assert [(option.id, option.value_name) for option in session.options] == [("p", "A"), ("s", "unsupported")]
    assert session.options[1].other == {**slider, "configId": "s", "name": "Heat"}
    assert (fill.input, macro.other) == (form, {"type": "_macro", "name": "m", "description": "M"})
    assert requests[0].other == deploy


@pytest.mark.feature("link icons", "agent", "client", versions=(2,))
@pytest.mark.req("V2-CONTENT-04")
async def test_links_have_icons_in_version_2_only(version: int, link: Link) -> None:
    icon = Icon(src="https://example.com/i.png", mime_type="image/png", sizes=["48x48"], theme="dark")
    linked = ResourceLink(uri="file:///a", name="a", icons=[icon])

    async def act(turn: Turn) -> None:
        await turn.say(linked)
        await turn.say(linked, meta={"n": 1})

    async with link(play(act)) as client:
        session = await client.new_session()
        media = [event async for event in session.prompt("go") if isinstance(event, Media)]
    async with wire_client(play(act)) as peer:
        await turn(peer, version, await begin_session(peer, version), "go")

    sent = [update["content"] for update in peer.updates if update["sessionUpdate"] == "agent_message_chunk"]
    assert ["icons" in block for block in sent] == [version == 2, version == 2]
    assert [isinstance(each.content, ResourceLink) and each.content.icons for each in media] == (
        [[icon], [icon]] if version == 2 else [None, None]
    )


@pytest.mark.req("V2-CONTENT-05")
async def test_icons_from_unsafe_addresses_are_not_sent_and_not_shown(link: Link) -> None:
    def act(turn: Turn) -> Any:
        icons = [Icon(src=f"{scheme}://example.com/i.png") for scheme in ("http", "file")]
        with pytest.raises(InvalidValue, match=r"icons\[0\]\.src"):
            turn.say(ResourceLink(uri="file:///a", name="a", icons=icons))
        # As another agent would send them.
        raw = [{"src": icon.src} for icon in icons] + [{"src": "data:image/png;base64,aGk="}]
        block = {"type": "resource_link", "uri": "file:///a", "name": "a", "icons": raw}
        return turn.say(UnknownContent(type="resource_link", data=block))

    async with link(play(act)) as client:
        session = await client.new_session()
        (media,) = [event async for event in session.prompt("go") if isinstance(event, Media)]

    assert isinstance(media.content, ResourceLink)
    expected = [Icon(src="data:image/png;base64,aGk=")] if client.version == 2 else None
    assert media.content.icons == expected


async def test_a_size_needs_cells_and_an_icon_its_type() -> None:
    class Wrong(Agent):
        async def prompt(self, turn: Turn) -> None:
            for size in ((0, 24), (80,), (80, 70000)):
                with pytest.raises(InvalidValue, match="size"):
                    turn.display_terminal("ls", size=size)  # type: ignore[arg-type]
            with pytest.raises(InvalidValue, match=r"icons\[0\]"):
                await turn.say(ResourceLink(uri="file:///a", name="a", icons=[{"src": "x"}]))  # type: ignore[list-item]

    async with wire_client(Wrong()) as peer:
        assert await turn(peer, 2, await begin_session(peer, 2), "go") == "end_turn"
