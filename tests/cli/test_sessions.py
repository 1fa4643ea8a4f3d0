"""accord sessions: list, find, show, export and delete sessions."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from support.cli_runner import Accord, Here

from accord import SessionInfo, SqliteStore
from accord.model.content import Image, TextContent
from accord.model.statement import MessageChunk, SetInfo, Statement, ToolPatch, WholeMessage
from accord.model.tool import Diff, Location

TALK: list[Statement] = [
    WholeMessage(role="user", message_id="u1", content=[TextContent("Fix the parser")]),
    MessageChunk(role="thought", message_id="t1", content=TextContent("Let me think.")),
    MessageChunk(role="agent", message_id="a1", content=TextContent("I will ")),
    MessageChunk(role="agent", message_id="a1", content=TextContent("fix it.")),
    ToolPatch(
        id="c1",
        title="Edit parser.py",
        kind="edit",
        status="in_progress",
        locations=[Location(path="/p/parser.py", line=3)],
    ),
    ToolPatch(id="c1", status="completed", content=[Diff.of("/p/parser.py", "a\n", "b\n")]),
    MessageChunk(role="agent", message_id="a2", content=TextContent("Done.")),
    SetInfo(title="Parser fixed"),
]


def keep(
    accord: Accord, id: str, *said: Statement, cwd: str | None = None, title: str | None = None, **more: Any
) -> None:
    """Save a session where the command looks for it."""

    async def put() -> None:
        async with SqliteStore(accord.data / "sessions.db") as store:
            info = SessionInfo(
                id=id, cwd=cwd or str(accord.project), title=title, updated_at="2026-01-02T03:04:05Z", **more
            )
            await store.create(info)
            for statement in said:
                store.append(id, statement)

    asyncio.run(put())


def text(words: str, id: str = "m") -> MessageChunk:
    return MessageChunk(role="agent", message_id=id, content=TextContent(words))


@pytest.fixture(autouse=True)
def utc() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def test_sessions_are_listed_newest_first_with_directory_and_time(accord: Accord, here: Here) -> None:
    keep(accord, "sess_old", title="First")
    keep(accord, "sess_new", title="Second\x1b[31m", cwd="/elsewhere")
    keep(accord, "sess_gone", archived=True)
    done = here("sessions", "list")
    assert done.status == 0
    assert done.out.splitlines() == [
        "sess_new  2026-01-02 03:04  Second\\x1b[31m  /elsewhere",
        f"sess_old  2026-01-02 03:04  First  {accord.project}",
    ]
    assert here("sessions", "list", "--cwd", ".").out.split()[0] == "sess_old"
    assert "sess_gone" in here("sessions", "list", "--archived").out
    rows = here("sessions", "list", "--json").lines
    assert [row["id"] for row in rows] == ["sess_new", "sess_old"]
    assert rows[1] == {
        "id": "sess_old",
        "cwd": str(accord.project),
        "title": "First",
        "updated_at": "2026-01-02T03:04:05Z",
        "additional_directories": [],
        "archived": False,
    }


def test_a_truncated_list_mentions_that_there_is_more(accord: Accord, here: Here) -> None:
    async def put() -> None:
        async with SqliteStore(accord.data / "sessions.db") as store:
            for number in range(60):
                await store.create(SessionInfo(id=f"s{number}", cwd="/p"))

    asyncio.run(put())
    done = here("sessions", "list")
    assert len(done.out.splitlines()) == 50
    assert done.err == "only the latest sessions are shown; use --all for all\n"
    assert len(here("sessions", "list", "--all").out.splitlines()) == 60
    assert len(here("sessions", "list", "--all", "--json").lines) == 60


def test_listing_sessions_does_not_create_a_store(accord: Accord, here: Here) -> None:
    done = here("sessions", "list")
    assert (done.status, done.out, done.err) == (0, "", "no stored sessions\n")
    assert here("sessions", "list", "--json").out == ""
    for words in (("show", "x"), ("export", "x"), ("delete", "x", "--yes")):
        assert here("sessions", *words).err == "accord: no session 'x'\n"
    assert here("sessions", "search", "x").status == 1
    assert not (accord.data / "sessions.db").exists()
    assert here("sessions", "--file", "other.db", "list").err == "accord: other.db doesn't exist\n"


def test_sessions_are_found_by_their_messages(accord: Accord, here: Here) -> None:
    keep(accord, "sess_a", *TALK)
    keep(accord, "sess_b", text("nothing here"), cwd="/elsewhere")
    done = here("sessions", "search", "parser.py")
    assert done.out.splitlines()[0].startswith("sess_a  2026-01-02 03:04")
    assert done.out.splitlines()[1] == "    tool: Edit parser.py /p/parser.py "
    assert here("sessions", "search", "nothing here").out.startswith("sess_b")
    assert here("sessions", "search", "here nothing").status == 1, "words in one argument stand together"
    assert here("sessions", "search", "here", "nothing").status == 0
    assert here("sessions", "search", "nothing", "--cwd", ".").err == "accord: no matches\n"
    assert here("sessions", "search", "think").status == 1
    assert here("sessions", "search", "think", "--thoughts").status == 0
    (hit,) = here("sessions", "search", "--json", "fix", "it").lines
    assert (hit["session"]["id"], hit["said_by"], hit["hit"]) == ("sess_a", "agent", "fix")
    for strange in ('"', "AND", "*", "'; --", "(", "\udcff"):
        assert here("sessions", "search", "--", strange).status in (0, 1)


def test_a_session_is_shown_as_a_dialogue(accord: Accord, here: Here) -> None:
    keep(accord, "sess_a", *TALK, title="Parser\nfixed")
    shown = here("sessions", "show", "sess_a").out
    assert shown == (
        f"Parser fixed\nsess_a, {accord.project}, 2026-01-02 03:04\n\n"
        "> Fix the parser\n\nI will fix it.\n\n✓ Edit parser.py\n\nDone.\n\n"
    )
    everything = here("sessions", "show", "a", "--thoughts", "--tools").out
    assert "| Let me think.\n" in everything
    assert "  [/p/parser.py:3]\n  diff --git" in everything
    assert "  -a\n  +b\n" in everything


def test_control_sequences_in_messages_are_sanitized(accord: Accord, here: Here) -> None:
    keep(accord, "sess_a", text("\x1b[2J\x07gone\u202e"), SetInfo(title="t\x1b]0;x\x07"))
    shown = here("sessions", "show", "sess_a").out + here("sessions", "search", "gone").out
    assert not set(shown) & set("\x1b\x07\u202e")


@pytest.mark.parametrize(
    "id, said",
    [
        ("sess_abcdefgh", "no session 'sess_abcdefgh'; did you mean sess_abcdef1?"),
        ("sess_ab", "'sess_ab' is ambiguous: sess_abxyz, sess_abcdef1"),
        ("nothing", "no session 'nothing'"),
        ("", "no session ''"),
        ("%", "no session '%'"),
    ],
)
def test_an_unknown_or_ambiguous_id_is_reported_with_similar_ids(
    accord: Accord, here: Here, id: str, said: str
) -> None:
    keep(accord, "sess_abcdef1")
    keep(accord, "sess_abxyz")
    for words in (["show", id], ["export", id], ["delete", "--yes", "sess_abx", id]):
        done = here("sessions", *words)
        assert (done.status, done.err, done.out) == (1, f"accord: {said}\n", "")
    assert len(here("sessions", "list", "--json").lines) == 2, "nothing was deleted when one of several is not there"


def test_ids_may_be_abbreviated(accord: Accord, here: Here) -> None:
    keep(accord, "sess_abcdef", text("one"))
    keep(accord, "sess_abxyz", text("two"))
    keep(accord, "sess_ab", text("three"))
    for id, words in (("sess_abc", "one"), ("abx", "two"), ("sess_ab", "three")):
        assert words in here("sessions", "show", id).out


def test_sessions_are_deleted_after_confirmation(accord: Accord, here: Here) -> None:
    for id in ("sess_a", "sess_b", "sess_c"):
        keep(accord, id, text("word"))
    refused = here("sessions", "delete", "sess_a")
    assert (refused.status, refused.err) == (
        1,
        "accord: can't ask for confirmation without a terminal; use --yes\n",
    )
    done = here("sessions", "delete", "--yes", "sess_a", "b", "sess_a")
    assert (done.status, done.err) == (0, "Deleted sess_a\nDeleted sess_b\n")
    assert [row["id"] for row in here("sessions", "list", "--json").lines] == ["sess_c"]
    assert len(here("sessions", "search", "word", "--json").lines) == 1


def test_deleting_asks_for_confirmation_on_a_terminal(accord: Accord) -> None:
    keep(accord, "sess_a", title="Precious")
    screen = accord.on_terminal("sessions", "delete", "sess_a")
    try:
        asked = screen.answer("[y/N]:", "n")
        assert "Precious" in asked
        assert screen.end() == 1
    finally:
        screen.close()
    screen = accord.on_terminal("sessions", "delete", "sess_a")
    try:
        screen.answer("[y/N]:", "y")
        assert screen.end() == 0
    finally:
        screen.close()
    assert accord("sessions", "list").out == ""


# -- export


def test_markdown_has_all_messages(accord: Accord, here: Here) -> None:
    keep(accord, "sess_a", *TALK, title="The *title*")
    document = here("sessions", "export", "sess_a").out
    assert document == (
        "# The \\*title\\*\n\n"
        f"- Session: `sess_a`\n- Directory: `{accord.project}`\n- Last changed: 2026-01-02T03:04:05Z\n\n"
        "## User\n\n> Fix the parser\n\n## Agent\n\n*Thought*\n\n> Let me think.\n\nI will fix it.\n\n"
        "**Tool call:** Edit parser.py\n\n- `/p/parser.py:3`\n\n"
        "```diff\ndiff --git /p/parser.py /p/parser.py\n"
        "--- /p/parser.py\n+++ /p/parser.py\n@@ -1 +1 @@\n-a\n+b\n```\n\n"
        "Done.\n"
    )


FENCES = [
    "an open fence:\n```python\nx = 1",
    "~~~\nopen too",
    "````\n```\ninner\n```\nstill open",
    "<!-- a comment without an end",
    "<details><summary>x",
    "a `tick` and a ``` in a line",
]


@pytest.mark.parametrize("said", FENCES)
def test_no_message_breaks_out_of_its_markdown_section(accord: Accord, here: Here, said: str) -> None:
    keep(
        accord,
        "sess_a",
        text(said),
        WholeMessage(role="user", message_id="u", content=[TextContent(said)]),
        text("end", "m2"),
    )
    keep(
        accord, "sess_b", ToolPatch(id="c", title="T", content=[Diff.of("/f", "", f"{said}\n```\n")]), text("end", "m2")
    )
    for id in ("sess_a", "sess_b"):
        document = here("sessions", "export", id).out
        assert lines_outside_code(document.splitlines())[-1] == "end", document
        assert not any(line.lstrip().startswith("<") for line in lines_outside_code(document.splitlines()))


def lines_outside_code(lines: Iterable[str]) -> list[str]:
    """Return the lines outside of code blocks, by the rules of CommonMark."""
    import re

    fence, found = "", []
    for line in lines:
        mark = re.match(r" {0,3}(`{3,}|~{3,})([^`]*)$", line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark:
            fence = mark[1]
        elif line.strip():
            found.append(line)
    return found


EVIL = "</pre></div><script>alert(1)</script><img src=x onerror=alert(1)>\"'&"


def test_html_is_one_page_without_scripts(accord: Accord, here: Here) -> None:
    keep(
        accord,
        "sess_a",
        WholeMessage(role="user", message_id="u", content=[TextContent(EVIL)]),
        text(f"```{EVIL}\n{EVIL}\n```\n{EVIL}"),
        MessageChunk(role="thought", message_id="t", content=TextContent(EVIL)),
        ToolPatch(id="c", title=EVIL, status=EVIL, kind=EVIL, content=[Diff.of(EVIL, None, EVIL)]),
        MessageChunk(role="agent", message_id="i", content=Image(data="iVBORw0KGgo=", mime_type="image/png")),
        MessageChunk(role="agent", message_id="i", content=Image(data='"><script>', mime_type="image/png")),
        MessageChunk(role="agent", message_id="i", content=Image(data="PHN2Zz4=", mime_type="image/svg+xml")),
        MessageChunk(role="agent", message_id="i", content=Image(data="aaaa", mime_type='image/png"><script>')),
        title=EVIL,
        cwd=f"/{EVIL}",
    )
    file = accord.folder / "page.html"
    done = here("sessions", "export", "sess_a", "-o", str(file))
    assert done.err == f"Exported sess_a to {file} as HTML\n"
    tags = Tags()
    tags.feed(file.read_text(encoding="utf-8"))
    assert tags.names <= {
        *("html", "head", "meta", "title", "style", "body", "header", "h1", "p", "main", "section", "div", "pre"),
        *("details", "summary", "span", "img"),
    }
    assert tags.attributes <= {"lang", "charset", "http-equiv", "content", "name", "class", "dir", "alt", "src"}
    assert tags.sources == ["data:image/png;base64,iVBORw0KGgo="]
    assert tags.text.count(EVIL) >= 7
    assert "default-src 'none'" in file.read_text(encoding="utf-8")


class Tags(HTMLParser):
    """The tags, attributes and text of a page, as a browser would see them."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.sources: list[str | None] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.sources += [value for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_json_has_the_whole_session(accord: Accord, here: Here) -> None:
    keep(accord, "sess_a", *TALK)
    told = json.loads(here("sessions", "export", "sess_a", "--format", "json").out)
    assert (told["format"], told["version"], told["session"]["id"]) == ("accord-session", 1, "sess_a")
    assert [(item["kind"], item.get("role"), item.get("text")) for item in told["items"]] == [
        ("message", "user", "Fix the parser"),
        ("message", "thought", "Let me think."),
        ("message", "agent", "I will fix it."),
        ("tool_call", None, None),
        ("message", "agent", "Done."),
    ]
    call = told["items"][3]
    assert (call["tool_kind"], call["status"], call["locations"][0]["path"]) == ("edit", "completed", "/p/parser.py")
    assert call["content"][0]["changes"][0]["new_text"] == "b\n"
    assert told["skipped"] == {}


@pytest.mark.parametrize("name, begins", [("a.md", "# "), ("a.json", "{"), ("a.htm", "<!DOCTYPE"), ("a.txt", "# ")])
def test_the_file_name_decides_the_format(accord: Accord, here: Here, name: str, begins: str) -> None:
    keep(accord, "sess_a", text("ä 漢 👩‍👩‍👧"))
    here("sessions", "export", "sess_a", "-o", name)
    written = (accord.project / name).read_text(encoding="utf-8")
    assert written.startswith(begins) and "ä 漢 👩‍👩‍👧" in written
    here("sessions", "export", "sess_a", "-o", name, "--format", "json")
    assert (accord.project / name).read_text(encoding="utf-8").startswith("{")


def test_an_unwritable_file_is_reported(accord: Accord, here: Here) -> None:
    keep(accord, "sess_a", text("x"))
    done = here("sessions", "export", "sess_a", "-o", "missing/a.md")
    assert (done.status, done.err) == (1, "accord: can't write missing/a.md: No such file or directory\n")


def test_a_damaged_store_is_an_error_in_one_line(accord: Accord, here: Here, tmp_path: Path) -> None:
    accord.data.mkdir(exist_ok=True)
    (accord.data / "sessions.db").write_text("nonsense " * 1000)
    done = here("sessions", "list")
    assert done.status == 1
    assert done.err.startswith(
        f"accord: can't save sessions in {accord.data}/sessions.db: it isn't a session database; "
    )


def test_a_store_of_a_later_version_is_reported(accord: Accord, here: Here) -> None:
    import sqlite3

    keep(accord, "sess_a", text("known"))
    connection = sqlite3.connect(accord.data / "sessions.db")
    connection.execute("INSERT INTO said SELECT max(place) + 1, ? FROM said", (b'[{"type":"Danced"}]',))
    connection.commit()
    connection.close()
    done = here("sessions", "show", "sess_a")
    assert "known" in done.out
    assert done.err == "skipped 1 entries that this version of Accord doesn't know; they stay in the database\n"


@pytest.mark.parametrize("format", ["md", "json", "html"])
def test_values_of_secret_variables_are_redacted_when_shown_and_exported(
    accord: Accord, here: Here, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
    keep(accord, "sess_1", text("the key is sk-ant-0123456789"))
    for done in (here("sessions", "show", "sess_1"), here("sessions", "export", "sess_1", "--format", format)):
        assert done.status == 0
        assert "the key is ••••" in done.out and "sk-ant" not in done.out


@pytest.mark.parametrize("at", range(1, len("sk-ant-0123456789")))
def test_a_secret_that_was_saved_in_two_chunks_is_redacted_everywhere(
    accord: Accord, here: Here, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    key = "sk-ant-0123456789"
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    keep(accord, "sess_1", text(f"the key is {key[:at]}"), text(f"{key[at:]}, remember it"), title=f"Use {key}")
    ways = [["show", "sess_1"], ["list"], ["list", "--json"]]
    ways += [["export", "sess_1", "--format", format] for format in ("md", "json", "html")]
    ways += [["search", *words] for words in (["key"], ["remember"], ["0123456789"], ["key", "--json"])]
    for words in ways:
        done = here("sessions", *words)
        assert done.status == 0
        assert "••••" in done.out and "0123" not in done.out and "456789" not in done.out, words
