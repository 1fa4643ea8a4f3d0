"""Content for snapshots of the transcript: every kind of item, rendered line by line."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from support.snapshots import paint, plain
from textual.color import Color
from textual.strip import Strip

from accord.model.content import Image, TextContent
from accord.model.session import Notice
from accord.model.tool import Diff, ExitStatus, FileChange, Location, TerminalRef, ToolCall
from accord.transcript.timing import Span
from accord.transcript.transcript import Transcript
from accord.tui.agent.workspace import CommandOutput
from accord.tui.terminal.filters import NoColorFilter
from accord.tui.theme import THEMES, TextStyles
from accord.tui.transcript.blocks.base import BlockContext
from accord.tui.transcript.blocks.tool import ToolBlock
from accord.tui.transcript.layout import Layout

MARKDOWN = """\
# A heading

Some *soft* and **loud** words, `code`, and [a link](https://example.com).

- one point
  - a point below it
- 日本語 and 🎉

> What others said.

```python
def greet(name: str) -> str:
    return f"Hello, {name}"
```

| what | how many |
|---|---:|
| apples | 3 |
| 梨 | 12 |
"""
OLD = "import os\n\n\ndef greet(name):\n    print('Helo ' + name)\n\n\ngreet('world')\n"
NEW = 'import os\n\n\ndef greet(name: str) -> None:\n    print("Hello " + name)\n\n\ngreet("world")\n'
PRINTED = (
    "\x1b[1mRunning\x1b[0m 3 tests\r\n\x1b[32mok\x1b[0m one\r\n\x1b[32mok\x1b[0m two\r\n\x1b[31;7mFAIL\x1b[0m three\r\n"
)


def look_of(theme: str) -> TextStyles:
    """Return the colors of a theme."""
    chosen = next(each for each in THEMES if each.name == theme)
    return TextStyles(chosen.to_color_system().generate() | chosen.variables, dark=chosen.dark)


def context(text_styles: TextStyles, width: int = 76) -> BlockContext:
    return BlockContext(
        text_styles,
        width=width,
        cwd="/project",
        spans={"slow": Span(0.0, 12.4), "runs": Span(0.0), "asked": Span(0.0, None, 3.0)},
        now=lambda: 75.0,
        terminal=lambda id: CommandOutput(PRINTED, False, ExitStatus(code=1), "make test"),
    )


def conversation(text_styles: TextStyles, width: int = 76) -> list[Strip]:
    """Render every kind of message on one page."""
    transcript = Transcript("s")
    transcript.append_text("user", "u", "Please look at this,\nand then at that.")
    transcript.append_text("thought", "t", "The user wants two things. First this, then that.")
    transcript.append_text("agent", "a", MARKDOWN)
    transcript.add_notice(Notice(severity="warning", title="Refused: rm -rf /", description="a rule says so"))
    layout = Layout(context(text_styles, width))
    layout.rows = 60
    layout.show(transcript)
    layout.update(())
    return [line for line, _ in layout.visible_lines]


CHANGED = ToolCall(
    id="slow",
    title="Change greet.py",
    kind="edit",
    status="completed",
    name="edit_file",
    locations=[Location(path="/project/greet.py", line=4)],
    content=[Diff(changes=[FileChange(operation="modify", path="/project/greet.py", old_text=OLD, new_text=NEW)])],
)
FOUND = ToolCall(
    id="slow",
    title="Search for “greet”",
    kind="search",
    status="completed",
    name="grep",
    raw_input={"pattern": "greet", "path": "src"},
    raw_output={"matches": 2},
    locations=[Location(path="/project/greet.py", line=4), Location(path="/elsewhere/notes.md")],
    content=[TextContent("`greet.py` has **two** of them."), Image(data="AAAA", mime_type="image/png")],
)
RAN = ToolCall(
    id="runs", title="make test", kind="execute", status="in_progress", content=[TerminalRef(terminal_id="t")]
)
CALLS = (
    FOUND,
    RAN,
    ToolCall(id="none", title="Fetch a page", kind="fetch", status="failed"),
    ToolCall(id="asked", title="Remove the old file", kind="delete", status="pending"),
    ToolCall(id="none", title="Think again", kind="think", status="cancelled"),
)


def calls(text_styles: TextStyles, width: int = 76, is_open: bool | None = None) -> list[Strip]:
    return [line for call in CALLS for line in ToolBlock(call, context(text_styles, width), is_open).lines]


def change(text_styles: TextStyles, width: int) -> list[Strip]:
    return ToolBlock(CHANGED, context(text_styles, width - 4), True).lines


def page(text_styles: TextStyles) -> list[Strip]:
    """Render items that use colors: a message, a diff, and command output."""
    ended = msgspec.structs.replace(RAN, status="failed")
    return [
        *conversation(text_styles)[:14],
        *change(text_styles, 76)[2:14],
        *ToolBlock(ended, context(text_styles), True).lines,
        *ToolBlock(CALLS[2], context(text_styles)).lines,
    ]


DRAWN: dict[str, Callable[[], list[str]]] = {
    "conversation": lambda: plain(conversation(look_of("accord-dark"))),
    "conversation-narrow": lambda: plain(conversation(look_of("accord-dark"), 36)),
    "calls-folded": lambda: plain(calls(look_of("accord-dark"))),
    "calls-open": lambda: plain(calls(look_of("accord-dark"), is_open=True)),
    "change-80": lambda: plain(change(look_of("accord-dark"), 80)),
    "change-120": lambda: plain(change(look_of("accord-dark"), 120)),
    "change-200": lambda: plain(change(look_of("accord-dark"), 200)),
    "painted-dark": lambda: paint(page(look_of("accord-dark"))),
    "painted-light": lambda: paint(page(look_of("accord-light"))),
    "painted-without-colors": lambda: paint(bare(page(look_of("accord-dark")))),
}


def bare(strips: list[Strip]) -> list[Strip]:
    """Render them as with `NO_COLOR`."""
    ground = Color.parse("#15161c")
    return [Strip(NoColorFilter().apply(list(strip), ground)) for strip in strips]
