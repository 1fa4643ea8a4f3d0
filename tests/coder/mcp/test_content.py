"""Content of results: complete for the user, truncated for the model."""

from __future__ import annotations

from typing import Any

import pytest

from accord.coder.mcp.content import MAX_IMAGES, content_of, contents_of, for_model, truncate
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


def test_invalid_content_blocks_are_skipped() -> None:
    assert contents_of(["text", None, {"type": "text", "text": "a"}]) == [TextContent("a")]
    assert contents_of(None) == []


def test_structured_content_goes_to_the_model_if_there_is_no_text() -> None:
    assert for_model([], {"a": ["ü"]}).text == '{"a":["ü"]}'
    assert for_model([{"type": "text", "text": "a is ü"}], {"a": ["ü"]}).text == "a is ü"


def test_the_model_gets_images_up_to_a_limit() -> None:
    told = for_model([{"type": "image", "data": "AA==", "mimeType": "image/png"}] * (MAX_IMAGES + 1))
    assert told.images == [Image(data="AA==", mime_type="image/png")] * MAX_IMAGES
    assert told.text.endswith("[another image, image/png, 3 bytes, shown to the user]")


def test_an_image_in_a_resource_is_an_image() -> None:
    block = {"type": "resource", "resource": {"uri": "a:b", "blob": "AA==", "mimeType": "image/png"}}
    assert for_model([block]).images == [Image(data="AA==", mime_type="image/png")]


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    text = truncate("a" * 900 + "z" * 100, 100)
    assert text.startswith("a" * 75) and text.endswith("z" * 25)
    assert "900 of 1000 characters omitted" in text
    assert truncate("short", 100) == "short"
