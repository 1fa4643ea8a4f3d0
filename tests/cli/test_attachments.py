"""Files that a prompt attaches with `@`: embedded or linked."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.cli.support import attachments
from accord.cli.support.attachments import find_mentions, prompt_content
from accord.client.offers import AgentOffers
from accord.errors import AccordError
from accord.model.content import Resource, ResourceLink


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
def test_a_word_after_an_at_sign_attaches_a_file_that_exists(tmp_path: Path, text: str, names: list[str]) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("a.md", "b.txt", "two words.txt", "ends.", "folder/c.py"):
        (tmp_path / name).write_text("")
    assert list(dict.fromkeys(each.path for each in find_mentions(text, tmp_path))) == [
        tmp_path / name for name in dict.fromkeys(names)
    ]


def test_trailing_punctuation_causes_only_a_few_file_lookups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    really = attachments._find
    monkeypatch.setattr(attachments, "_find", lambda name, *more: looks.append(name) or really(name, *more))
    assert list(find_mentions("@nothing" + "." * 20_000, tmp_path)) == []
    assert 0 < len(looks) <= 20


def test_lines_far_into_a_file_are_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log").write_text("a line\n" * 1000)
    monkeypatch.setattr(attachments, "_MAX_SKIPPED_BYTES", 1000)
    offers = AgentOffers(version=1, resource=True)
    assert isinstance(prompt_content("@log:100", [], tmp_path, offers)[1], Resource)
    assert isinstance(prompt_content("@log:999", [], tmp_path, offers)[1], ResourceLink)


def test_large_and_binary_files_are_linked(tmp_path: Path) -> None:
    (tmp_path / "large").write_text("x" * (1024 * 1024 + 1))
    (tmp_path / "small").write_text("x" * 1024 * 1024)
    (tmp_path / "bytes").write_bytes(b"\xff")
    content = prompt_content("@large @small @bytes", [], tmp_path, AgentOffers(version=1, resource=True))
    assert [type(piece) for piece in content[1:]] == [ResourceLink, Resource, ResourceLink]
    assert content[1].size == 1024 * 1024 + 1


def test_line_endings_are_preserved(tmp_path: Path) -> None:
    (tmp_path / "dos").write_bytes(b"a\r\nb\r\n")
    (_, piece) = prompt_content("@dos", [], tmp_path, AgentOffers(version=1, resource=True))
    assert piece.resource.text == "a\r\nb\r\n"


def test_attaching_an_image_fails_if_the_agent_does_not_support_images(tmp_path: Path) -> None:
    with pytest.raises(AccordError, match="accept images"):
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
def test_a_range_of_lines_can_be_attached(tmp_path: Path, text: str, found: tuple[str, int, int]) -> None:
    for name in ("a.md", "two words.md", "odd:2"):
        (tmp_path / name).write_text("")
    (named,) = find_mentions(text, tmp_path)
    assert named == (tmp_path / found[0], found[1], found[2])


def test_only_the_given_lines_are_embedded(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"one\ntwo\r\nthree\nfour")
    offers = AgentOffers(version=1, resource=True)
    _, some, last = prompt_content("@a.md:2-3 and @a.md:4", [], tmp_path, offers)
    assert (some.resource.uri, some.resource.text) == (f"{(tmp_path / 'a.md').as_uri()}#L2-L3", "two\r\nthree\n")
    assert (last.resource.uri, last.resource.text) == (f"{(tmp_path / 'a.md').as_uri()}#L4", "four")


def test_lines_are_linked_if_they_cannot_be_embedded(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one\ntwo\n")
    (tmp_path / "long").write_text("one\n" + "x" * 1024 * 1024 + "\nthree\n")
    (_, link) = prompt_content("@a.md:2", [], tmp_path, AgentOffers(version=1))
    assert (link.uri, link.name, link.size) == (f"{(tmp_path / 'a.md').as_uri()}#L2", "a.md:2", None)
    for text in ("@a.md:70", "@long:2", "@long:1-3"):
        (_, link) = prompt_content(text, [], tmp_path, AgentOffers(version=1, resource=True))
        assert isinstance(link, ResourceLink)


def test_a_directory_with_a_trailing_slash_is_linked(tmp_path: Path) -> None:
    (tmp_path / "docs" / "more").mkdir(parents=True)
    offers = AgentOffers(version=1, resource=True)
    assert len(prompt_content("@docs", [], tmp_path, offers)) == 1
    (_, link, inner) = prompt_content("look into @docs/ and @docs/more, too", [], tmp_path, offers)
    assert (link.uri, link.name) == (f"{(tmp_path / 'docs').as_uri()}/", "docs/")
    assert link.mime_type == "inode/directory"
    assert inner.name == "more/"
