"""The lines of a log on the screen: how many are kept, and how one of them is folded."""

from __future__ import annotations

from chatting import Opened
from rich.cells import cell_len

from accord.testing import ScriptedAgent
from accord.tui.screens.lines import Lines, Pages
from accord.tui.wire import KEPT_BYTES, Log, Sieve, Wanted, title


async def test_an_open_log_lets_go_what_the_log_has_let_go(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        log = chat.pane.talk.link.log
        await chat.press("ctrl+l")
        await chat.until("→ initialize")
        view = chat.app.screen.query_one(Lines)
        line = b"x" * 250_000
        for number in range(4):
            for _ in range(20):
                log.add("stderr", line)
            log.add("stderr", b"round %d" % number)
            await chat.until(lambda number=number: view.rows[-1].logged.line == b"round %d" % number)  # type: ignore[misc]
        assert sum(row.logged.weight for row in view.rows) <= KEPT_BYTES
        assert view.chosen == view.rows[-1], "the newest is still followed"
        log.add("stderr", b"one more")
        await chat.until(lambda: view.rows[-1].logged.line == b"one more")
        assert view.rows[-2].logged.line == b"round 3"


def test_what_is_no_message_is_not_called_an_answer() -> None:
    log = Log()
    log.saw("in", b"<html>Please log in</html>\n")
    log.saw("in", b' {"id": 1, "result": {}}\n')
    assert [title(each) for each in Sieve(Wanted.of("", None)).sifted(log.since(0))] == ["no message", "answer"]


async def test_a_message_in_wide_characters_is_folded_where_the_window_ends(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        said = "".join(chr(0x4E00 + number) for number in range(300))
        chat.pane.talk.link.log.add("stderr", said.encode())
        await chat.press("ctrl+l")
        await chat.until(said[0])
        await chat.press("enter")
        await chat.until(lambda: chat.app.screen.query(Pages) and chat.app.screen.query_one(Pages)._rows)
        pages = chat.app.screen.query_one(Pages)
        shown = [pages.render_line(y).text.rstrip() for y in range(pages.size.height)]
        assert "".join(shown) == said
        assert all(cell_len(row) <= pages.size.width for row in pages._rows)
