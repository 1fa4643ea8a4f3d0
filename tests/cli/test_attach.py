"""Which files a prompt names, and how they come along."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.cli import attach
from accord.cli.attach import all_named, named_files, prompt_content
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
        ("@a.md" + "?!" * 10_000, ["a.md"]),
        ("@ends" + "." * 9, ["ends."]),
        ("@" + "." * 20_000, []),
    ],
)
def test_a_word_with_an_at_names_a_file_if_there_is_one(tmp_path: Path, text: str, names: list[str]) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("a.md", "b.txt", "two words.txt", "ends.", "folder/c.py"):
        (tmp_path / name).write_text("")
    assert list(named_files(text, tmp_path)) == [tmp_path / name for name in dict.fromkeys(names)]


def test_however_many_marks_end_a_word_it_is_looked_for_a_few_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    really = attach._found
    monkeypatch.setattr(attach, "_found", lambda name, *more: looks.append(name) or really(name, *more))
    assert list(all_named("@nothing" + "." * 20_000, tmp_path)) == []
    assert 0 < len(looks) <= 20


def test_lines_that_are_very_far_down_are_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log").write_text("a line\n" * 1000)
    monkeypatch.setattr(attach, "_MOST_PASSED", 1000)
    offers = AgentOffers(version=1, resource=True)
    assert isinstance(prompt_content("@log:100", [], tmp_path, offers)[1], Resource)
    assert isinstance(prompt_content("@log:999", [], tmp_path, offers)[1], Link)


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


@pytest.mark.parametrize(
    "text, found",
    [
        ("@a.md:2", ("a.md", 2, 2)),
        ("see @a.md:2-3, please", ("a.md", 2, 3)),
        ("(@a.md:3-2)", ("a.md", 2, 3)),
        ('@"two words.md":2-3.', ("two words.md", 2, 3)),
        ("@a.md:0", ("a.md", 0, 0)),
        ("@odd:2", ("odd:2", 0, 0)),
        ("@odd:2:1", ("odd:2", 1, 1)),
    ],
)
def test_lines_of_a_file_can_be_named(tmp_path: Path, text: str, found: tuple[str, int, int]) -> None:
    for name in ("a.md", "two words.md", "odd:2"):
        (tmp_path / name).write_text("")
    (named,) = all_named(text, tmp_path)
    assert named == (tmp_path / found[0], found[1], found[2])


def test_only_the_lines_that_were_named_are_embedded(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"one\ntwo\r\nthree\nfour")
    offers = AgentOffers(version=1, resource=True)
    _, some, last = prompt_content("@a.md:2-3 and @a.md:4", [], tmp_path, offers)
    assert (some.resource.uri, some.resource.text) == (f"{(tmp_path / 'a.md').as_uri()}#L2-L3", "two\r\nthree\n")
    assert (last.resource.uri, last.resource.text) == (f"{(tmp_path / 'a.md').as_uri()}#L4", "four")


def test_lines_are_linked_where_they_cannot_be_embedded(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one\ntwo\n")
    (tmp_path / "long").write_text("one\n" + "x" * 1024 * 1024 + "\nthree\n")
    (_, link) = prompt_content("@a.md:2", [], tmp_path, AgentOffers(version=1))
    assert (link.uri, link.name, link.size) == (f"{(tmp_path / 'a.md').as_uri()}#L2", "a.md:2", None)
    for text in ("@a.md:70", "@long:2", "@long:1-3"):
        (_, link) = prompt_content(text, [], tmp_path, AgentOffers(version=1, resource=True))
        assert isinstance(link, Link)


def test_a_folder_that_is_written_like_one_is_linked(tmp_path: Path) -> None:
    (tmp_path / "docs" / "more").mkdir(parents=True)
    offers = AgentOffers(version=1, resource=True)
    assert len(prompt_content("@docs", [], tmp_path, offers)) == 1
    (_, link, inner) = prompt_content("look into @docs/ and @docs/more, too", [], tmp_path, offers)
    assert (link.uri, link.name) == (f"{(tmp_path / 'docs').as_uri()}/", "docs/")
    assert link.mime_type == "inode/directory"
    assert inner.name == "more/"
