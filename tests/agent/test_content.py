"""Content of prompts and answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.link import Link, script_agent
from support.wire_client import ask, begin_session, turn

from accord import Agent, Annotations, Audio, CapabilityError, Image, Media, Resource, ResourceLink, TextContent, Turn
from accord.model.content import ResourceContents, UnknownContent
from accord.testing import wire_client

EVERYTHING = [
    TextContent("text", annotations=Annotations(audience=["user"], priority=0.5), meta={"a": 1}),
    ResourceLink(uri="file:///a.md", name="a.md", title="A", description="d", mime_type="text/markdown", size=3),
    Image(data="aGk=", mime_type="image/png", uri="file:///i.png"),
    Audio(data="aGk=", mime_type="audio/wav"),
    Resource.of("file:///b.py", "print()", "text/x-python"),
    Resource(resource=ResourceContents(uri="file:///c", blob="aGk=")),
]


class Seeing(Agent):
    content = ("image", "audio", "resource")

    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def prompt(self, turn: Turn) -> None:
        self.seen.append(turn.content)
        for piece in turn.content:
            await turn.say(piece)


@pytest.mark.feature("content", "agent", "client")
@pytest.mark.req("V1-CONTENT-01", "V1-CONTENT-02", "V1-CONTENT-06", "V1-CONTENT-07", "V1-CONTENT-08", "V1-CONTENT-10")
@pytest.mark.req("V1-PROMPT-05", "V2-CONTENT-01", "V2-CONTENT-02", "V2-CONTENT-03")
async def test_content_of_every_kind_arrives_as_it_was_sent_both_ways(link: Link) -> None:
    agent = Seeing()
    async with link(agent) as client:
        session = await client.new_session()
        events = [event async for event in session.prompt(EVERYTHING)]

    assert agent.seen == [EVERYTHING]
    (message,) = [item for item in session.transcript.timeline if getattr(item, "role", "") == "agent"]
    assert message.content == EVERYTHING  # type: ignore[union-attr]
    assert [event.content for event in events if isinstance(event, Media)] == EVERYTHING[1:]


@pytest.mark.req("V1-PROMPT-04", "V2-INIT-21", "V1-PROMPT-02")
async def test_every_agent_takes_text_and_links(link: Link) -> None:
    seen: list[Any] = []

    async def look(turn: Turn) -> None:
        seen.append((turn.text, len(turn.content)))

    async with link(script_agent(look)) as client:
        await (await client.new_session()).prompt("see ", EVERYTHING[1], "this")

    assert seen == [("see this", 3)]


@pytest.mark.req("V1-PROMPT-06", "V1-CONTENT-04", "V1-CONTENT-05", "V1-CONTENT-07", "V2-PROMPT-04", "V2-PROMPT-09")
@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "a"}},
        {"type": "_hologram", "depth": 3},
    ],
)
async def test_a_kind_that_was_not_offered_is_refused_with_its_place(version: int, block: dict[str, Any]) -> None:
    async with wire_client(script_agent()) as peer:
        session = await begin_session(peer, version)
        refused = await peer.answer_to(await ask(peer, session, "look", block))
        await peer.quiet()

    assert refused["error"]["code"] == -32602
    assert refused["error"]["data"]["path"].startswith("prompt[1]")
    assert block["type"] in refused["error"]["message"]
    assert peer.updates == []


@pytest.mark.req("V2-PROMPT-02", "V2-PROMPT-03")
async def test_in_version_2_an_empty_prompt_is_refused() -> None:
    async with wire_client(script_agent()) as peer:
        session = await begin_session(peer, 2)
        refused = await peer.answer_to(await ask(peer, session))

    assert refused["error"]["code"] == -32602


@pytest.mark.req("V1-PROMPT-03", "V1-CONTENT-04", "V1-CONTENT-05", "V1-CONTENT-07", "V2-PROMPT-02")
@pytest.mark.parametrize("piece", EVERYTHING[2:5])
async def test_a_client_does_not_send_what_the_agent_does_not_take(link: Link, piece: Any) -> None:
    async with link(script_agent()) as client:
        session = await client.new_session()
        with pytest.raises(CapabilityError, match="nothing was sent"):
            session.prompt("look", piece)
        assert (await session.prompt("hi")).stop_reason == "end_turn"


@pytest.mark.req("V1-CONTENT-09", "V2-CONTENT-03")
async def test_what_cannot_be_read_of_a_block_is_left_out_and_the_block_stays(version: int) -> None:
    agent = Seeing()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, version)
        annotations = {"audience": ["user", 7], "priority": "x", "lastModified": 3}
        block = {"type": "text", "text": "hi", "annotations": annotations, "_meta": []}
        assert await turn(peer, version, session, block) == "end_turn"

    ((piece,),) = agent.seen
    assert (piece.text, piece.meta) == ("hi", None)
    assert piece.annotations == Annotations(audience=["user"])


@pytest.mark.req("V2-CONTENT-01", "V2-CONTENT-08", "V2-EXT-04")
async def test_in_version_2_content_of_an_unknown_kind_is_preserved() -> None:
    class Open(Seeing):
        content = ("_hologram",)

    agent = Open()
    block = {"type": "_hologram", "depth": 3, "layers": [{"a": None}]}
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 2)
        await turn(peer, 2, session, block)

    assert agent.seen == [[UnknownContent(type="_hologram", data=block)]]
    echo = next(update for update in peer.updates if update["sessionUpdate"] == "user_message")
    said = next(update for update in peer.updates if update["sessionUpdate"] == "agent_message_chunk")
    assert echo["content"] == [block]
    assert said["content"] == block


async def test_pictures_and_sounds_can_be_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"hi")
    (tmp_path / "noname").write_bytes(b"hi")

    assert Image.read(tmp_path / "a.jpg") == Image(data="aGk=", mime_type="image/jpeg")
    assert Image.read(tmp_path / "noname").mime_type == "image/png"
    assert Audio.read(str(tmp_path / "noname")) == Audio(data="aGk=", mime_type="audio/wav")
