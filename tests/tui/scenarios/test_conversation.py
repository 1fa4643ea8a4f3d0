"""The transcript in a real terminal: Markdown, thoughts, tool calls and diffs."""

from __future__ import annotations

import base64
import re
import sys

import pytest
from support.terminal_scenarios import SHOWCASE, agent_at, chat, do, say, to_conversation, until_in
from support.tmux import Tmux

pytestmark = pytest.mark.slow

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def colored_line(tmux: Tmux, wanted: str) -> str:
    """Return the screen line with this text, including escape sequences."""
    rows = [row for row, line in enumerate(tmux.screen.splitlines()) if wanted in line]
    return tmux.colored.splitlines()[rows[0]]


def test_code_is_highlighted_tables_are_aligned_and_links_work(tmux: Tmux) -> None:
    tmux.start("chat", SHOWCASE, size=(100, 70))
    raw = tmux.record()
    tmux.until("● ready")
    screen = say(tmux, "/markdown", "An unclosed")
    ink = re.compile(r"\x1b\[[0-9;]*38;2;\d+;\d+;\d+")
    line = "def greet(name: str)"
    tmux.until_true(lambda _: len(set(ink.findall(colored_line(tmux, line)))) >= 3, f"{line!r} in three colors")
    rows = screen.splitlines()
    head = next(at for at, line in enumerate(rows) if re.search("left +middle +right", line))
    names, rule, first = (line[:66].rstrip() for line in rows[head : head + 3])
    assert set(rule.strip()) == {"─"} and len(rule) == len(names)
    assert first.index("a") == names.index("left") and first.index("1") == len(names) - 1
    assert names.index("middle") < first.index("b") < names.index("middle") + len("middle") - 1
    assert b"\x1b]8;" in until_in(raw, b"\x1b]8;")


def test_messages_are_shown_while_they_stream(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    tmux.send("/slow 60")
    tmux.until("1 of 200")
    screen = tmux.until("2 of 200")
    assert "working" in screen and "of 200… done" not in screen
    tmux.keys("Escape")
    tmux.until("stopped. This was still sent")
    tmux.until("● ready")


def test_a_thought_is_one_line_until_opened(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    say(tmux, "/thoughts", "this is a second message")
    tmux.until_all("▸ Thought: Was that enough", "▸ Thought: The user wants to see how thoughts look.")
    to_conversation(tmux)
    tmux.keys("Up")
    tmux.until("(?m)^▐ ▸ Thought: Was that")
    tmux.keys("Enter")
    tmux.until_gone("▸ Thought: Was that")
    tmux.until("Was that enough. One more thought, with Markdown and code")
    tmux.keys("Enter")
    tmux.until("▸ Thought: Was that enough")


def test_a_tool_call_shows_kind_status_and_duration_and_opens_to_input_and_output(tmux: Tmux) -> None:
    paced = f"{sys.executable} -m accord showcase --pace 0.1"
    chat(tmux, paced, size=(100, 60))
    tmux.send("/tools 2")
    tmux.until("10 kinds, 6 statuses")
    tmux.until(r"▸ ✓ / Parallel 1 of 2  \d+\.\ds")
    tmux.until(r"▸ ✓ ≡ Kind: read, under a new title  \d+\.\ds")
    tmux.until("● ready")
    tmux.click_on("Kind: read")
    details = ("read, showcase_read, completed", "→ src/example.py:7", '"path": "src/example.py"', '"lines": 3')
    tmux.until_all("The output of a tool of kind read.", *details)


def test_diffs_are_shown_side_by_side_or_inline_with_changed_words(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, size=(160, 76))
    say(tmux, "/diff", "No file was changed")
    tmux.until(r"1 - def greet\(name\): +│1 \+ def greet\(name: str\) -> None:")
    tmux.until_all("old.py (deleted)  +0 -1", "greet.py (new)  +5 -0")
    line = colored_line(tmux, "1 - def greet(name):")
    grounds = list(dict.fromkeys(re.findall(r"48;2;(\d+);(\d+);(\d+)", line)))
    greener = [ground for ground in grounds if int(ground[1]) > int(ground[0]) + 10]
    redder = [ground for ground in grounds if int(ground[0]) > int(ground[1]) + 10]
    assert len(greener) == 2 and len(redder) >= 1, "what was added has a ground, and its new words another"
    tmux.keys("F10")
    tmux.until("Changes side by side: on")
    tmux.type("side by side")
    tmux.until_gone("Theme: ")
    tmux.keys("Enter")
    tmux.until("Changes side by side: off")
    tmux.keys("Escape")
    tmux.until_gone("Changes side by side: ")
    tmux.until(r"1 - def greet\(name\): .*\n.*2 - .*Helo.*\n.*1 \+ def greet\(name: str\)")


def test_a_pasted_image_and_file_are_sent_with_the_prompt(tmux: Tmux) -> None:
    (tmux.project / "sun set.png").write_bytes(PIXEL)
    (tmux.project / "notes.md").write_text("# Notes\n")
    chat(tmux, SHOWCASE, size=(100, 130))
    tmux.paste(f"'{tmux.project / 'sun set.png'}'")
    tmux.until('│ @"sun set.png"')
    tmux.paste(str(tmux.project / "notes.md"))
    tmux.until('│ @"sun set.png" +@notes.md')
    tmux.keys("Enter")
    tmux.until("/v2-background")
    tmux.keys("C-Home")
    tmux.until("Besides text, your prompt contained: (Image.*Resource|Resource.*Image|Image, Resource)")


def test_a_reopened_session_shows_its_history(tmux: Tmux) -> None:
    chat(tmux, None)
    (tmux.project / "notes.md").write_text("The secret word is wombat.\n")
    say(tmux, 'search for "wombat" in notes.md', "The secret word is wombat")
    tmux.close()
    chat(tmux, None)
    assert "wombat" not in tmux.screen
    tmux.keys("C-o")
    tmux.until("Sessions of(.|\n)*wombat")
    tmux.type("wombat")
    tmux.keys("Enter")
    tmux.until_gone("Sessions of")
    tmux.until_all("The secret word is wombat", 'search for "wombat" in notes.md')


def test_the_wire_is_watched_live_and_filtered(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    tmux.send("/slow 60")
    tmux.until("2 of")
    tmux.keys("C-l")
    tmux.until("session/update")
    tmux.keys("F6")  # only what was sent
    screen = tmux.until_gone("session/update")
    assert "session/prompt" in tmux.until("session/prompt"), screen
    tmux.keys("F5")
    tmux.until("session/update")
    tmux.type("config_option")
    tmux.until_gone("session/update")
    tmux.keys("C-u")
    tmux.until("session/update")


def test_the_palette_finds_commands_by_their_words(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"))
    do(tmux, "Keys")
    tmux.until("In the prompt")
