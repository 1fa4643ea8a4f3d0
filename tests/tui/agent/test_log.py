"""The log of an agent: limits, display, filters, copying and saving."""

from __future__ import annotations

import json

import pytest
from support.tui_driver import Opened

from accord.testing import ScriptedAgent
from accord.tui.agent.log import (
    MAX_LINE_BYTES,
    Log,
    LogFilter,
    LogQuery,
    as_text,
    contents,
    pretty,
    readable,
    summarize,
    title,
)
from accord.tui.screens.log import LogLines


def apply(log: Log, words: str = "", kinds: tuple[str, ...] | None = None) -> list[str]:
    return [title(each) for each in LogFilter(LogQuery.of(words, kinds)).apply(log.since(0))]  # type: ignore[arg-type]


def test_a_full_log_drops_its_oldest_lines() -> None:
    log = Log(most=3000)
    for number in range(100):
        log.add("stderr", b"%d\n" % number)
    assert log.count == 100
    assert [line.line for line in log.since(0)][-1] == b"99"
    assert len(log) < 20


def test_a_long_line_is_truncated_and_shows_its_size() -> None:
    log = Log()
    log.add("in", b"x" * (MAX_LINE_BYTES + 1000))
    (line,) = log.since(0)
    assert len(line.line) == MAX_LINE_BYTES and line.size == MAX_LINE_BYTES + 1000
    assert "263 kB in all" in readable(line, (), 20)
    assert "only the start is kept" in pretty(line, ())


def test_lines_since_a_count_are_those_recorded_after_it() -> None:
    log = Log()
    log.record("in", b'{"a":1}\n{"b":2}\n')
    count = log.count
    log.record("out", b'{"c":3}\n')
    assert [line.line for line in log.since(count)] == [b'{"c":3}']


def test_a_response_is_labeled_with_the_method_of_its_request() -> None:
    log = Log()
    log.record("out", b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n')
    log.record("in", b'{"jsonrpc":"2.0","id":0,"result":{}}\n')
    assert apply(log) == ["initialize", "response to initialize"]
    assert apply(log, "method:init", ("in",)) == ["response to initialize"]
    assert apply(log, "-method:init") == []


def test_an_update_is_labeled_with_its_kind_and_summarized() -> None:
    log = Log()
    update = '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Pears"}}'
    line = f'{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{update}}}}}'
    log.record("in", line.encode())
    log.record("out", b'{"jsonrpc":"2.0","id":4,"method":"session/cancel","params":{"sessionId":"s"}}')
    first, second = LogFilter(LogQuery()).apply(log.since(0))
    assert title(first) == "session/update agent_message_chunk"
    assert contents(first, (), 100) == '{"content":"Pears","sessionId":"s"}'
    assert contents(second, (), 30) == '{"sessionId":"s"}'
    assert apply(log, "method:agent_message") == ["session/update agent_message_chunk"]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ('{"id":1,"result":{}}', "{}"),
        ('{"id":1,"result":null}', "null"),
        ('{"id":1,"error":{"code":-32000,"message":"Log in"}}', '{"code":-32000,"message":"Log in"}'),
        (
            '{"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Hi"}]}}',
            '{"prompt":["Hi"],"sessionId":"s"}',
        ),
        (
            '{"method":"session/update","params":{"sessionId":"s","update":'
            '{"sessionUpdate":"tool_call","toolCallId":"t","title":"Look"}}}',
            '{"title":"Look","toolCallId":"t","sessionId":"s"}',
        ),
    ],
)
def test_a_summary_prefers_message_text_and_closes_its_brackets(message: str, told: str) -> None:
    assert summarize(message.encode()).decode() == told


def test_the_start_of_a_long_or_broken_message_is_shown_unchanged() -> None:
    text = "x" * 100_000
    update = f'{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}'
    line = f'{{"method":"session/update","params":{{"sessionId":"s","update":{update}}}}}'
    assert summarize(line.encode()) == f"{update}}}}}".encode()
    assert summarize(b'{"method":"a","params":{"b":') == b'{"b":'
    assert summarize(b"[" * 20_000) == b"[" * 20_000


def test_the_filter_takes_words_excluded_words_and_kinds() -> None:
    log = Log()
    log.record("in", b'{"method":"session/update","params":{"text":"Pears"}}\n')
    log.record("in", b'{"method":"session/update","params":{"text":"Figs"}}\n')
    log.add("stderr", b"pears on standard error")
    assert apply(log, "pears") == ["session/update", "printed"]
    assert apply(log, "-figs", ("in",)) == ["session/update"]
    assert apply(log, "pears figs") == []


def test_secrets_are_masked_but_session_ids_are_not() -> None:
    log = Log()
    log.record(
        "out", b'{"method":"x","params":{"sessionId":"s-12345678","apiKey":"sk-abcdefghijklmnop","totalTokens":4711}}\n'
    )
    (line,) = log.since(0)
    for text in (readable(line, ()), pretty(line, ()), as_text(LogFilter(LogQuery()).apply(log.since(0)), ())):
        assert "sk-abc" not in text
        assert "s-12345678" in text and "4711" in text
    assert "s-123" not in readable(line, {"s-12345678"})


def test_a_truncated_line_does_not_show_the_start_of_a_secret() -> None:
    secret = "key-abcdefghijklmnop"
    log = Log()
    log.add("stderr", f"the key is {secret}".encode())
    log.add("stderr", ("x" * (MAX_LINE_BYTES - 8) + secret).encode())
    short, long = log.since(0)

    assert readable(short, [secret], most=19).startswith("the key is")
    assert "key-" not in readable(short, [secret], most=19)
    assert "key-" not in readable(long, [secret]) + pretty(long, [secret])


def test_log_lines_are_sanitized() -> None:
    log = Log()
    log.add("stderr", b"\x1b]0;owned\x07\x1b[2J")
    (line,) = log.since(0)
    assert "\x1b" not in readable(line, ()) + pretty(line, ())


async def test_the_log_begins_with_the_handshake_and_a_message_opens(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        await chat.press("ctrl+l")
        await chat.until("→ initialize")
        await chat.until("← response to session/new")
        await chat.type("method:initialize")
        await chat.gone("session/new")
        await chat.press("up", "enter")
        await chat.until('"protocolVersion"')
        assert '      "name": "accord"' in chat.text
        await chat.press("y")
        assert json.loads(chat.app.clipboard)["method"] == "initialize"
        await chat.press("escape", "escape")
        await chat.gone("Log of")


async def test_the_log_continues_when_the_agent_is_restarted(opened: Opened) -> None:
    async with opened(ScriptedAgent, fails="No API key", wait=False) as chat:
        await chat.until("Couldn't start")
        chat.app.host.fails = ""  # type: ignore[attr-defined]
        chat.tab.controller.process.log.add("stderr", b"last words")
        await chat.press("ctrl+r")
        await chat.ready()
        await chat.press("ctrl+l")
        await chat.until("→ initialize")
        assert "last words" in chat.text and "the agent is restarted" in chat.text


async def test_log_lines_can_be_copied_and_saved(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        await chat.press("ctrl+l")
        await chat.until("← response to session/new")
        await chat.press("f5")
        await chat.gone("→ initialize")
        await chat.press("f7")
        await chat.until(lambda: "sessionId" in chat.app.clipboard)
        await chat.press("f8")
        await chat.until(lambda: list(chat.app.host.cwd.glob("accord-log-*.txt")))
        (path,) = chat.app.host.cwd.glob("accord-log-*.txt")
        await chat.until(lambda: "sessionId" in path.read_text())
        assert path.stat().st_mode & 0o077 == 0
        assert path.read_text().count(" ← ") >= 2 and " → " not in path.read_text()


async def test_new_lines_are_followed_until_the_cursor_leaves_the_end(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        log = chat.tab.controller.process.log
        for number in range(100):
            log.add("stderr", b"line %d" % number)
        await chat.press("ctrl+l")
        await chat.until("line 99")
        await chat.press("pageup")
        log.add("stderr", b"one more")
        view = chat.app.screen.query_one(LogLines)
        await chat.until(lambda: view.rows[-1].entry.line == b"one more")
        assert "one more" not in chat.text
        await chat.press("ctrl+end")
        await chat.until("one more")
