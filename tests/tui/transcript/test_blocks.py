"""Blocks of messages, tool calls and command output, and their list."""

from __future__ import annotations

import random

import msgspec
import pytest
from support.theme import COLORS
from textual.strip import Strip

from accord.model.content import TextContent
from accord.model.tool import Diff, FileChange, ToolCall
from accord.terminal_text import format_duration, format_size, one_line, sanitize
from accord.transcript.transcript import Transcript
from accord.tui.theme import TextStyles
from accord.tui.transcript.ansi import printed_lines
from accord.tui.transcript.block_cache import MAX_BLOCKS
from accord.tui.transcript.blocks import diff as diffs
from accord.tui.transcript.blocks.base import BlockContext
from accord.tui.transcript.blocks.diff import rows_of_patch
from accord.tui.transcript.blocks.tool import ToolBlock
from accord.tui.transcript.heights import Heights
from accord.tui.transcript.layout import Layout
from accord.tui.transcript.markdown import MAX_UNSETTLED, Prose


def words(lines: list[Strip]) -> list[str]:
    return [line.text.rstrip() for line in lines]


# -- heights


def test_heights_find_the_item_at_every_line() -> None:
    chance = random.Random(5)
    heights = Heights()
    sizes = [chance.randint(1, 9) for _ in range(200)]
    for size in sizes:
        heights.append(size)
    for _ in range(300):
        index, size = chance.randrange(200), chance.randint(0, 9)
        sizes[index] = size
        heights.set(index, size)
    assert heights.total == sum(sizes)
    for index in range(200):
        assert heights.before(index) == sum(sizes[:index])
    for line in range(heights.total):
        index, row = heights.find(line)
        assert heights.before(index) + row == line
        assert row < sizes[index]


# -- markdown


@pytest.mark.parametrize("language", ["python", "json", ""])
def test_code_has_the_background_of_the_text_around_it(text_styles: TextStyles, language: str) -> None:
    prose = Prose(text_styles, 60)
    prose.feed(f"Text\n\n```{language}\nx = [1, 'two']\n  y\n```\n\nmore text\n")
    backgrounds = {segment.style.bgcolor for line in prose.lines for segment in line if segment.style is not None}
    assert backgrounds == {text_styles.base.bgcolor}


def test_markdown_renders_the_same_however_it_is_split(text_styles: TextStyles) -> None:
    text = "# Title\n\nSome *words*.\n\n- one\n- two\n\n```python\nx = 1\n```\n\n"
    text += "| a | b |\n|---|---|\n| 1 | 2 |\n\nThe end.\n"
    whole = Prose(text_styles, 60)
    whole.feed(text)
    for size in (1, 3, 17):
        pieces = Prose(text_styles, 60)
        for start in range(0, len(text), size):
            pieces.feed(text[start : start + size])
            assert pieces.lines is not None
        assert words(pieces.lines) == words(whole.lines)


def test_a_code_block_without_end_is_drawn_piece_by_piece_and_stays_code(text_styles: TextStyles) -> None:
    prose = Prose(text_styles, 60)
    prose.feed("```python\n")
    for number in range(2000):
        prose.feed(f"value_{number} = {number}\n")
    lines = words(prose.lines)
    assert all(line.startswith("│ ") for line in lines if line)
    assert lines[-1] == "│ value_1999 = 1999"
    assert sum(len(line) for line in words(prose.tail)) < 3 * MAX_UNSETTLED


def test_html_is_shown_literally(text_styles: TextStyles) -> None:
    prose = Prose(text_styles, 60)
    prose.feed("a Vec<String> and <b>tags</b>")
    assert words(prose.lines) == ["a Vec<String> and <b>tags</b>"]


# -- sanitized text


def test_no_message_can_control_the_terminal() -> None:
    assert sanitize("a\x1b[31mb\x07c\x9bd\u202ee\r\nf") == "a␛[31mb␇c�d�e\nf"
    assert one_line("a\n\n  b\tc") == "a b c"
    assert one_line("x" * 50, 10) == "xxxxxxxxx…"


@pytest.mark.parametrize("count, said", [(5, "5 B"), (1500, "1.5 kB"), (20_000_000, "20 MB"), (3e9, "3.0 GB")])
def test_sizes_are_formatted_for_people(count: float, said: str) -> None:
    assert format_size(count) == said


@pytest.mark.parametrize("seconds, said", [(0.34, "0.3s"), (12.7, "13s"), (61, "1m 01s"), (3700, "1h 01m")])
def test_durations_are_formatted_for_people(seconds: float, said: str) -> None:
    assert format_duration(seconds) == said


# -- output of commands


def test_output_keeps_its_colors_and_loses_everything_else() -> None:
    lines, skipped = printed_lines("\x1b[31mred\x1b[0m\x07 \x1b[2Jand\r\n10%\r100%\nlast")
    assert [line.plain for line in lines] == ["red and", "100%", "last"]
    assert lines[0].spans
    assert skipped == 0


def test_the_end_of_long_output_is_shown() -> None:
    lines, skipped = printed_lines("".join(f"line {n}\n" for n in range(100_000)), 50)
    assert [line.plain for line in lines] == [f"line {n}" for n in range(99_950, 100_000)]
    assert skipped > 0


# -- changes


def test_a_change_is_shown_with_the_words_that_differ() -> None:
    rows = diffs.rows_of(FileChange(operation="modify", path="a", old_text="say hello now\n", new_text="say bye now\n"))
    assert rows is not None
    assert [(row.sign, row.text) for row in rows] == [("-", "say hello now"), ("+", "say bye now")]
    assert [row.text[slice(*row.marks[0])] for row in rows] == ["hello", "bye"]


def test_only_the_lines_around_a_change_are_shown(text_styles: TextStyles) -> None:
    old = "".join(f"line {n}\n" for n in range(100))
    diff = Diff.of("a.txt", old, old.replace("line 50\n", "changed\n"))
    lines = words(diffs.draw(diff, text_styles, 80, side_by_side=False))
    assert lines[0] == "a.txt  +1 -1"
    assert len(lines) == 1 + 3 + 2 + 3


def test_a_diff_is_side_by_side_if_it_fits(text_styles: TextStyles) -> None:
    diff = Diff.of("a.txt", "one\ntwo\n", "one\n2\n")
    lines = words(diffs.draw(diff, text_styles, 121, side_by_side=True))
    assert any("2 - two" in line and "2 + 2" in line for line in lines)


@pytest.mark.parametrize("old, new", [(None, "one\n"), ("one\n", None)])
def test_a_new_or_deleted_file_has_one_side(text_styles: TextStyles, old: str | None, new: str | None) -> None:
    lines = words(diffs.draw(Diff.of("a.txt", old, new), text_styles, 121, side_by_side=True))
    assert lines[1] == f"1 {'-' if new is None else '+'} one"


@pytest.mark.parametrize("dark", [True, False])
def test_added_and_removed_lines_differ_in_256_colors_too(dark: bool) -> None:
    few = TextStyles(COLORS, dark=dark, depth="256")
    grounds = [few.said, few.added, few.added_word, few.removed, few.removed_word]
    assert len({each.bgcolor.number for each in grounds if each.bgcolor is not None}) == 5


def test_raw_output_is_omitted_if_it_is_already_shown(text_styles: TextStyles) -> None:
    call = ToolCall(id="t", title="Read", raw_output={"text": "the answer\n", "code": 0}, status="completed")
    call = msgspec.structs.replace(call, content=[TextContent("said: the answer")])
    assert "output" not in words(ToolBlock(call, BlockContext(text_styles), True).lines)[-2:]
    call = msgspec.structs.replace(call, raw_output={"text": "another"})
    assert any("another" in line for line in words(ToolBlock(call, BlockContext(text_styles), True).lines))


def test_the_details_of_a_call_are_below_it(text_styles: TextStyles) -> None:
    call = ToolCall(id="t", title="Change", content=[Diff.of("a.txt", "one\n", "two\n")])
    lines = words(ToolBlock(call, BlockContext(text_styles)).lines)
    assert lines[0].startswith("  ▸ ")
    assert all(line.startswith("  │ ") for line in lines[1:])
    assert all(len(line) <= 80 + 2 for line in lines)


def test_a_patch_without_texts_is_read(text_styles: TextStyles) -> None:
    patch = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n"
    diff = Diff(changes=[FileChange(operation="modify", path="x.py")], given_patch=patch)
    assert words(diffs.draw(diff, text_styles, 80, side_by_side=False)) == [
        "x.py  +1 -1",
        "1   same",
        "2 - old",
        "2 + new",
    ]


def test_a_patch_with_absolute_paths_shows_relative_file_names(text_styles: TextStyles) -> None:
    patch = "diff --git /p/x y.py /p/x y.py\n--- /p/x y.py\n+++ /p/x y.py\n@@ -1 +1 @@\n-old\n+new\n"
    told = Diff(changes=[FileChange(operation="modify", path="/p/x y.py")], given_patch=patch)
    assert words(diffs.draw(told, text_styles, 80, side_by_side=False, cwd="/p"))[0] == "x y.py  +1 -1"
    assert (
        words(diffs.draw(Diff(changes=[], given_patch=patch), text_styles, 80, side_by_side=False))[0]
        == "/p/x y.py  +1 -1"
    )


def test_the_words_that_differ_are_found_in_a_patch_too() -> None:
    patch = "diff --git a/x b/x\n@@ -1,2 +1,3 @@\n-say hello now\n-go\n+say bye now\n+go\n+and more\n"
    ((_, rows),) = rows_of_patch(patch)
    assert [(row.text, [row.text[slice(*mark)] for mark in row.marks]) for row in rows] == [
        ("say hello now", ["hello"]),
        ("go", []),
        ("say bye now", ["bye"]),
        ("go", []),
        ("and more", []),
    ]


# -- the list


def fill_layout(text_styles: TextStyles, count: int, rows: int = 20) -> tuple[Layout, Transcript]:
    transcript = Transcript("s")
    for number in range(count):
        transcript.append_text("agent" if number % 2 else "user", f"m{number}", f"message {number}\n\nwith more")
    layout = Layout(BlockContext(text_styles, width=60))
    layout.rows = rows
    layout.show(transcript)
    return layout, transcript


def read_lines(layout: Layout) -> str:
    return "\n".join(line.text.rstrip() for line, _ in layout.visible_lines)


def test_only_visible_messages_of_ten_thousand_are_rendered(text_styles: TextStyles) -> None:
    layout, _ = fill_layout(text_styles, 10_000)
    assert "message 9999" in read_lines(layout)
    assert len(layout.blocks._blocks) < 20


def test_scrolling_up_and_down_returns_to_the_same_place(text_styles: TextStyles) -> None:
    layout, _ = fill_layout(text_styles, 500)
    layout.scroll(-200)
    before = read_lines(layout)
    layout.scroll(-357)
    layout.scroll(357)
    assert read_lines(layout) == before


def test_the_view_follows_at_the_end_and_stays_put_elsewhere(text_styles: TextStyles) -> None:
    layout, transcript = fill_layout(text_styles, 100)
    transcript.append_text("agent", "new", "hot off the press")
    layout.update([("agent", "new")])
    assert "hot off the press" in read_lines(layout)
    layout.scroll(-50)
    before = read_lines(layout)
    transcript.append_text("agent", "newer", "and more")
    layout.update([("agent", "newer")])
    assert read_lines(layout) == before
    layout.scroll(10_000)
    assert "and more" in read_lines(layout)
    assert layout.following


def test_the_cache_of_rendered_blocks_is_limited(text_styles: TextStyles) -> None:
    layout, _ = fill_layout(text_styles, 2000)
    for _ in range(400):
        layout.scroll(-19)
    assert len(layout.blocks._blocks) <= MAX_BLOCKS


def test_an_item_that_cannot_be_rendered_does_not_affect_the_others(
    text_styles: TextStyles, monkeypatch: pytest.MonkeyPatch
) -> None:
    from accord.tui.transcript.blocks.message import UserBlock

    def fail(self: UserBlock, before: list[Strip]) -> list[Strip]:
        raise ValueError("no")

    monkeypatch.setattr(UserBlock, "render", fail)
    layout, _ = fill_layout(text_styles, 4)
    assert "couldn't render this: ValueError('no')" in read_lines(layout)
    assert "message 3" in read_lines(layout)


# -- long messages


def long_message(text_styles: TextStyles, rows: int = 30) -> tuple[Layout, Transcript, str]:
    transcript = Transcript("s")
    transcript.append_text("user", "u", "go")
    parts = []
    for number in range(1500):
        parts.append(f"Paragraph {number} has some *words* in it and goes on.\n\n")
        if number % 30 == 0:
            parts.append(f"```python\nx = {number}\n\ny = 2\n```\n\n")
    for part in parts:
        transcript.append_text("agent", "a", part)
    layout = Layout(BlockContext(text_styles, width=70))
    layout.rows = rows
    layout.show(transcript)
    return layout, transcript, "".join(parts)


def drawn_to_the_end(layout: Layout) -> None:
    for _ in range(10_000):
        if not layout.update(()):
            return
    raise AssertionError("it is never done")


def test_the_end_of_a_long_message_is_rendered_first(text_styles: TextStyles) -> None:
    layout, _, _ = long_message(text_styles)
    drawn_to_the_end(layout)
    assert "Paragraph 1499" in read_lines(layout)
    assert len(layout.blocks.get(1).lines) < 200


def test_the_end_of_a_message_that_grows_faster_than_it_is_rendered_is_shown(text_styles: TextStyles) -> None:
    layout, transcript, _ = long_message(text_styles)
    for number in range(5):
        transcript.append_text("agent", "a", "more and more of it\n\n" * 1000 + f"end {number}\n\n")
        layout.update([("agent", "a")])
        drawn_to_the_end(layout)
        assert f"end {number}" in read_lines(layout)
        assert len(layout.blocks.get(1).lines) < 500


@pytest.mark.parametrize("from_top", [False, True])
def test_the_skipped_part_is_rendered_when_the_user_scrolls_there(text_styles: TextStyles, from_top: bool) -> None:
    layout, _, text = long_message(text_styles)
    drawn_to_the_end(layout)
    if from_top:
        layout.jump(0)
    step = 25 if from_top else -25
    for _ in range(150):
        layout.scroll(step)
    whole = Prose(text_styles, 70)
    whole.feed(text)
    assert [line.text.strip() for line in layout.blocks.get(1).lines[1:]] == [line.text.strip() for line in whole.lines]


def test_scrolling_up_in_a_long_message_skips_nothing(text_styles: TextStyles) -> None:
    layout, _, _ = long_message(text_styles)
    drawn_to_the_end(layout)
    for _ in range(20):
        before = read_lines(layout).split("\n")
        layout.scroll(-29)
        assert read_lines(layout).split("\n")[-1] == before[0]


def test_the_line_in_view_stays_when_everything_is_rendered_again(text_styles: TextStyles) -> None:
    layout, _, _ = long_message(text_styles)
    drawn_to_the_end(layout)
    layout.invalidate()
    layout.compose()
    drawn_to_the_end(layout)
    assert "Paragraph 1499" in read_lines(layout)
    layout.scroll(-900)
    place = next(line for line in read_lines(layout).split("\n") if "Paragraph" in line)
    layout.context.width = 60
    layout.invalidate()
    layout.compose()
    drawn_to_the_end(layout)
    number = int(place.split()[1])
    assert any(f"Paragraph {near} " in read_lines(layout) for near in range(number - 12, number + 12))
    assert not layout.following


@pytest.mark.parametrize("from_top", [False, True])
def test_a_long_table_is_a_table_at_every_scroll_position(text_styles: TextStyles, from_top: bool) -> None:
    transcript = Transcript("s")
    transcript.append_text("user", "u", "go")
    rows = "".join(f"| row {number} | value {number * number} | and some more words |\n" for number in range(900))
    table = f"| a | b | c |\n|:--|--:|---|\n{rows}"
    transcript.append_text("agent", "a", f"Here it is:\n\n{table}\nThat was all | of it.\n")
    layout = Layout(BlockContext(text_styles, width=70))
    layout.rows = 30
    layout.show(transcript)
    drawn_to_the_end(layout)
    assert "That was all | of it." in read_lines(layout)
    if from_top:
        layout.jump(0)
    seen = set()
    for _ in range(120):
        lines = read_lines(layout).split("\n")
        assert not [line for line in lines if line.lstrip(" ▌│█").startswith("| row")]
        seen |= {int(line.split("row ")[1].split()[0]) for line in lines if "row " in line}
        layout.scroll(25 if from_top else -25)
    assert seen == set(range(900))


def test_a_long_text_is_split_between_words_without_a_gap(text_styles: TextStyles) -> None:
    text = "some words that go on and on " * 600
    prose = Prose(text_styles, 60)
    for start in range(0, len(text), 41):
        prose.feed(text[start : start + 41])
    lines = words(prose.lines)
    assert all(lines)
    assert " ".join(lines).split() == text.split()
