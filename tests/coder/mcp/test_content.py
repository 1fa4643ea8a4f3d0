"""What servers give: whole for the user, bounded for the model."""

from __future__ import annotations

from typing import Any

import pytest

from accord.coder.mcp.content import MOST_IMAGES, bounded, content_of, contents_of, for_model
from accord.model.content import Image, TextContent, UnknownContent


@pytest.mark.parametrize(
    "block",
    [
        {"type": "text", "text": "a", "annotations": {"audience": ["user"], "x": None}, "_meta": {"k": None}},
        {"type": "image", "data": "AA==", "mimeType": "image/png"},
        {"type": "audio", "data": "AA==", "mimeType": "audio/wav", "new": 1},
        {"type": "resource_link", "uri": "a:b", "name": "n", "icons": []},
        {"type": "resource", "resource": {"uri": "a:b", "text": ""}},
        {"type": "hologram", "beams": [1, 2]},
        {"type": "text", "text": "a", "annotations": None},
        {"no": "type"},
    ],
)
def test_a_block_keeps_every_field(block: dict[str, Any]) -> None:
    import msgspec

    content = content_of(block)
    assert (content.data if isinstance(content, UnknownContent) else msgspec.to_builtins(content)) == block


def test_what_is_no_block_is_left_out() -> None:
    assert contents_of(["text", None, {"type": "text", "text": "a"}]) == [TextContent("a")]
    assert contents_of(None) == []


def test_structured_content_is_told_where_there_is_no_text() -> None:
    assert for_model([], {"a": ["ü"]}).text == '{"a":["ü"]}'
    assert for_model([{"type": "text", "text": "a is ü"}], {"a": ["ü"]}).text == "a is ü"


def test_pictures_are_given_to_the_model_up_to_a_number() -> None:
    told = for_model([{"type": "image", "data": "AA==", "mimeType": "image/png"}] * (MOST_IMAGES + 1))
    assert told.images == [Image(data="AA==", mime_type="image/png")] * MOST_IMAGES
    assert told.text.endswith("[one more picture, image/png, 3 bytes, shown to the user]")


def test_a_picture_in_a_resource_is_one_too() -> None:
    block = {"type": "resource", "resource": {"uri": "a:b", "blob": "AA==", "mimeType": "image/png"}}
    assert for_model([block]).images == [Image(data="AA==", mime_type="image/png")]


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    text = bounded("a" * 900 + "z" * 100, 100)
    assert text.startswith("a" * 75) and text.endswith("z" * 25)
    assert "900 of 1000 characters left out" in text
    assert bounded("short", 100) == "short"
