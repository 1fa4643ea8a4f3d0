"""The document lists what there is to show, in the words of the table that `/help` is made from."""

from __future__ import annotations

from pathlib import Path

from accord.showcase.agent import Showcase

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "showcase.md"


def test_the_document_lists_every_command_as_the_help_does() -> None:
    assert Showcase().markdown() in DOCUMENT.read_text(encoding="utf-8")


def test_every_command_has_one_name_and_one_place() -> None:
    showcase = Showcase()
    names = [command.name for commands in showcase.table().values() for command in commands]
    assert len(set(names)) == len(names)
    assert len(showcase.table()) == len(showcase.topics)
    assert all(showcase.table().values())
