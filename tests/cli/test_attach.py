"""Which files a prompt names, and how they come along."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.cli.attach import named_files, prompt_content
from accord.client.offers import AgentOffers
from accord.errors import AccordError
from accord.model.content import Link, Resource


@pytest.mark.parametrize(
    "text, names",
    [
        ("read @a.md", ["a.md"]),
        ("@a.md, @a.md and (@b.txt).", ["a.md", "b.txt"]),
        ('@"two words.txt" @\'two words.txt\' "@b.txt"', ["two words.txt", "b.txt"]),
        ("why @ends. and @ends..?", ["ends.", "ends."]),
        ("me@a.md @none.md @ @@a.md @folder @nobody~/a.md @~nobody-here/a", []),
        ("@folder/c.py:", ["folder/c.py"]),
        ("@folder/../a.md!!", ["a.md"]),
        ("@a.md\n@b.txt", ["a.md", "b.txt"]),
        ("@" + "x" * 5000, []),
        ("@nul\0.md", []),
    ],
)
def test_a_word_with_an_at_names_a_file_if_there_is_one(tmp_path: Path, text: str, names: list[str]) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("a.md", "b.txt", "two words.txt", "ends.", "folder/c.py"):
        (tmp_path / name).write_text("")
    assert list(named_files(text, tmp_path)) == [tmp_path / name for name in dict.fromkeys(names)]


def test_large_files_and_those_that_are_no_text_are_linked(tmp_path: Path) -> None:
    (tmp_path / "large").write_text("x" * (1024 * 1024 + 1))
    (tmp_path / "small").write_text("x" * 1024 * 1024)
    (tmp_path / "bytes").write_bytes(b"\xff")
    content = prompt_content("@large @small @bytes", [], tmp_path, AgentOffers(version=1, resource=True))
    assert [type(piece) for piece in content[1:]] == [Link, Resource, Link]
    assert content[1].size == 1024 * 1024 + 1


def test_line_endings_come_along_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "dos").write_bytes(b"a\r\nb\r\n")
    (_, piece) = prompt_content("@dos", [], tmp_path, AgentOffers(version=1, resource=True))
    assert piece.resource.text == "a\r\nb\r\n"


def test_a_picture_for_an_agent_without_eyes_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AccordError, match="takes no pictures"):
        prompt_content("x", [tmp_path / "a.png"], tmp_path, AgentOffers(version=1))
