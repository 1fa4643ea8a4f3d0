"""What pictures of the conversation are made of: everything that is said and done, drawn line by line."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from snapshots import painted, plain
from textual.app import App
from textual.color import Color
from textual.strip import Strip

from accord.model.content import Image, TextContent
from accord.model.session import Notice
from accord.model.tool import Diff, ExitStatus, FileChange, Location, TerminalRef, ToolCall
from accord.transcript.transcript import Transcript
from accord.tui.colourless import Colourless
from accord.tui.conversation.block import Printed, Setting, Span
from accord.tui.conversation.layout import Layout
from accord.tui.conversation.tool import ToolBlock
from accord.tui.look import Look

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


def look_of(theme: str) -> Look:
    """The colours of a theme."""
    app: App[None] = App()
    chosen = app.get_theme(theme)
    assert chosen is not None
    return Look(chosen.to_color_system().generate(), dark=chosen.dark)


def setting(look: Look, width: int = 76) -> Setting:
    return Setting(
        look,
        width=width,
        cwd="/project",
        spans={"slow": Span(0.0, 12.4), "runs": Span(0.0), "asked": Span(0.0, None, 3.0)},
        now=lambda: 75.0,
        terminal=lambda id: Printed(PRINTED, False, ExitStatus(code=1), "make test"),
    )


def conversation(look: Look, width: int = 76) -> list[Strip]:
    """Everything that is said, on one page."""
    transcript = Transcript("s")
    transcript.append_text("user", "u", "Please look at this,\nand then at that.")
    transcript.append_text("thought", "t", "The user wants two things. First this, then that.")
    transcript.append_text("agent", "a", MARKDOWN)
    transcript.add_notice(Notice(severity="warning", title="Refused: rm -rf /", description="a rule says so"))
    layout = Layout(setting(look, width))
    layout.rows = 60
    layout.show(transcript)
    layout.take(())
    return [line for line, _ in layout.picture]


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


def calls(look: Look, width: int = 76, is_open: bool | None = None) -> list[Strip]:
    return [line for call in CALLS for line in ToolBlock(call, setting(look, width), is_open).lines]


def change(look: Look, width: int) -> list[Strip]:
    return ToolBlock(CHANGED, setting(look, width - 4), True).lines


def page(look: Look) -> list[Strip]:
    """What colours are for: something said, a change, and what a command printed."""
    ended = msgspec.structs.replace(RAN, status="failed")
    return [
        *conversation(look)[:14],
        *change(look, 76)[2:14],
        *ToolBlock(ended, setting(look), True).lines,
        *ToolBlock(CALLS[2], setting(look)).lines,
    ]


DRAWN: dict[str, Callable[[], list[str]]] = {
    "conversation": lambda: plain(conversation(look_of("textual-dark"))),
    "conversation-narrow": lambda: plain(conversation(look_of("textual-dark"), 36)),
    "calls-folded": lambda: plain(calls(look_of("textual-dark"))),
    "calls-open": lambda: plain(calls(look_of("textual-dark"), is_open=True)),
    "change-80": lambda: plain(change(look_of("textual-dark"), 80)),
    "change-120": lambda: plain(change(look_of("textual-dark"), 120)),
    "change-200": lambda: plain(change(look_of("textual-dark"), 200)),
    "painted-dark": lambda: painted(page(look_of("textual-dark"))),
    "painted-light": lambda: painted(page(look_of("textual-light"))),
    "painted-without-colours": lambda: painted(bare(page(look_of("textual-dark")))),
}


def bare(strips: list[Strip]) -> list[Strip]:
    """As with NO_COLOR."""
    ground = Color.parse("#121212")
    return [Strip(Colourless().apply(list(strip), ground)) for strip in strips]
