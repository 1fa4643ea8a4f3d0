"""accord sessions: list, search, show, export and delete stored sessions."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from accord.cli.support.errors import CommandError

if TYPE_CHECKING:
    from accord.model.session import SessionInfo
    from accord.store.search import Hit
    from accord.store.sqlite import SqliteStore
    from accord.transcript.transcript import Transcript

FORMATS = {"md": "Markdown", "json": "JSON", "html": "HTML"}
_SUFFIXES = {".md": "md", ".markdown": "md", ".json": "json", ".html": "html", ".htm": "html"}
_PATH = click.Path(path_type=Path)


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.option("--file", "file", type=_PATH, help="Session database (default: the built-in agent's).")
@click.pass_context
def sessions(ctx: click.Context, file: Path | None) -> None:
    """List, search, show, export and delete stored sessions. A unique prefix of an ID is enough.

    \b
    Examples:
      accord sessions list
      accord sessions search migration plan
      accord sessions export 3f2a -o session.md
    """
    ctx.obj = file
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@sessions.command("list")
@click.option("--cwd", "directory", type=_PATH, help="Only sessions in this directory.")
@click.option("--all", "everything", is_flag=True, help="List all sessions, not just the latest 50.")
@click.option("--archived", is_flag=True, help="Include archived sessions.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@click.pass_obj
def list_sessions(file: Path | None, directory: Path | None, everything: bool, archived: bool, as_json: bool) -> None:
    """List the latest sessions.

    \b
    Examples:
      accord sessions list --cwd .
      accord sessions list --all --json
    """
    from accord.cli.support.stored_sessions import with_store

    where = _absolute(directory)

    async def find(store: SqliteStore) -> tuple[list[SessionInfo], bool]:
        page = await store.list(cwd=where, archived="include" if archived else "exclude")
        found = page.sessions
        while everything and page.next_cursor is not None:
            page = await store.list(cwd=where, cursor=page.next_cursor, archived="include" if archived else "exclude")
            found += page.sessions
        return found, page.next_cursor is not None

    nothing: tuple[list[SessionInfo], bool] = ([], False)
    found, more = with_store(file, find, nothing)
    found = _redactor()(found)
    if as_json:
        from accord.store.export.json import entry

        _print_json(map(entry, found))
        return
    if not found:
        click.echo(f"no stored sessions{f' in {where}' if where else ''}", err=True)
        return
    width = max(len(info.id) for info in found)
    for info in found:
        click.echo(_row(info, width))
    if more:
        click.echo("only the latest sessions are shown; use --all for all", err=True)


@sessions.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--cwd", "directory", type=_PATH, help="Only sessions in this directory.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Maximum number of hits.")
@click.option("--thoughts", is_flag=True, help="Search the agent's thoughts as well.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@click.pass_obj
def search(
    file: Path | None, words: tuple[str, ...], directory: Path | None, limit: int, thoughts: bool, as_json: bool
) -> None:
    """Search sessions for all of WORDS. Put a phrase in quotes.

    \b
    Examples:
      accord sessions search migration plan
      accord sessions search "exact phrase" --cwd .
    """
    from accord.cli.support.stored_sessions import with_store

    text = " ".join(f'"{word}"' if " " in word and '"' not in word else word for word in words)
    where = _absolute(directory)
    nothing: Sequence[Hit] = []
    found = with_store(file, lambda store: store.search(text, cwd=where, limit=limit, thoughts=thoughts), nothing)
    hits = _redact_hits(found)
    if as_json:
        from accord.store.export.json import entry

        _print_json(
            {
                "session": entry(hit.session),
                "said_by": hit.kind,
                "before": hit.before,
                "hit": hit.hit,
                "after": hit.after,
            }
            for hit in hits
        )
        return
    if not hits:
        raise CommandError("no matches")
    width = max(len(hit.session.id) for hit in hits)
    for hit in hits:
        from accord.terminal_text import escape

        click.echo(_row(hit.session, width))
        words_found = click.style(escape(hit.hit), bold=True)
        click.echo(f"    {hit.kind}: {escape(hit.before)}{words_found}{escape(hit.after)}")


@sessions.command()
@click.argument("id")
@click.option("--thoughts", is_flag=True, help="Include the agent's thoughts.")
@click.option("--tools", is_flag=True, help="Include the content of tool calls: diffs, output.")
@click.pass_obj
def show(file: Path | None, id: str, thoughts: bool, tools: bool) -> None:
    """Print a session as text.

    \b
    Examples:
      accord sessions show 3f2a
      accord sessions show 3f2a --tools
    """
    from accord.cli.support.stored_sessions import read
    from accord.store.export.sections import sections as of
    from accord.store.export.text import text
    from accord.terminal_text import escape, escape_line

    info, transcript, skipped = read(file, id)
    redact = _redactor()
    info = redact(info)
    click.echo(f"{escape_line(info.title or 'Untitled session')}\n{info.id}, {escape_line(info.cwd)}, {_when(info)}\n")
    for piece in map(redact, text(of(transcript), thoughts=thoughts, contents=tools)):
        click.echo(escape(piece), nl=False)
    _report_skipped(skipped)


@sessions.command()
@click.argument("id")
@click.option(
    "--format", "format", type=click.Choice(sorted(FORMATS)), help="Default: by the output file's extension, or md."
)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Output file.")
@click.pass_obj
def export(file: Path | None, id: str, format: str | None, output: Path | None) -> None:
    """Export a session as Markdown, JSON or a self-contained HTML page.

    \b
    Examples:
      accord sessions export 3f2a -o session.md
      accord sessions export 3f2a --format html > session.html
    """
    from accord.cli.support.stored_sessions import read

    info, transcript, skipped = read(file, id)
    kind = format or _SUFFIXES.get(output.suffix.lower() if output is not None else "", "md")
    pieces = map(_redactor(), _pieces(kind, info, transcript, skipped))
    if output is None or str(output) == "-":
        for piece in pieces:
            click.echo(piece, nl=False)
        _report_skipped(skipped)
        return
    try:
        with open(output, "w", encoding="utf-8", newline="\n") as document:
            document.writelines(pieces)
    except OSError as error:
        raise CommandError(f"can't write {output}: {error.strerror or error}") from error
    click.echo(f"Exported {info.id} to {output} as {FORMATS[kind]}", err=True)
    _report_skipped(skipped)


def _redactor() -> Callable[[Any], Any]:
    """Return a function that redacts the values of secret variables, which other agents and older versions may have
    stored."""
    from accord.config.redaction import redact_known, secret_values

    secrets = secret_values(os.environ)
    return lambda value: redact_known(value, secrets)


def _redact_hits(hits: Sequence[Hit]) -> list[Hit]:
    """Redact excerpts. A secret that contains the words searched for becomes the hit."""
    from msgspec import structs

    from accord.config.redaction import SHORTEST_KEY, secret_values

    secrets, redact = [each for each in secret_values(os.environ) if len(each) >= SHORTEST_KEY], _redactor()
    redacted: list[Hit] = []
    for hit in hits:
        text, start = hit.before + hit.hit + hit.after, len(hit.before)
        end = start + len(hit.hit)
        for secret in secrets:
            for found in re.finditer(re.escape(secret), text):
                if found.start() < end and found.end() > start:
                    start, end = min(start, found.start()), max(end, found.end())
        parts = {"before": text[:start], "hit": text[start:end], "after": text[end:]}
        redacted.append(redact(structs.replace(hit, **parts)))
    return redacted


def _pieces(kind: str, info: SessionInfo, transcript: Transcript, skipped: dict[str, int]) -> Iterable[str]:
    from accord.store.export.sections import sections as of

    if kind == "json":
        import msgspec

        from accord.store.export.json import document

        return [msgspec.json.format(msgspec.json.encode(document(info, transcript, skipped))).decode() + "\n"]
    if kind == "html":
        from accord.store.export.html import html

        return html(info, of(transcript))
    from accord.store.export.markdown import markdown

    return markdown(info, of(transcript))


@sessions.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@click.option("--yes", is_flag=True, help="Don't ask for confirmation.")
@click.pass_obj
def delete(file: Path | None, ids: tuple[str, ...], yes: bool) -> None:
    """Permanently delete sessions.

    \b
    Examples:
      accord sessions delete 3f2a
      accord sessions delete 3f2a 9c01 --yes
    """
    from accord.cli.support.stored_sessions import find_session, raise_unknown, with_store

    async def find(store: SqliteStore) -> list[SessionInfo]:
        meant = {info.id: info for info in [await find_session(store, id) for id in ids]}
        return list(meant.values())

    nothing: list[SessionInfo] = []
    found = with_store(file, find, nothing)
    if not found:
        raise_unknown(ids[0])
    if not yes:
        _ask(found)

    async def forget(store: SqliteStore) -> None:
        for info in found:
            await store.delete(info.id)

    with_store(file, forget, None)
    for info in found:
        click.echo(f"Deleted {info.id}", err=True)


def _ask(found: list[SessionInfo]) -> None:
    import sys

    if not sys.stdin.isatty():
        raise CommandError("can't ask for confirmation without a terminal; use --yes")
    width = max(len(info.id) for info in found)
    for info in _redactor()(found):
        click.echo(_row(info, width), err=True)
    what = "this session" if len(found) == 1 else f"these {len(found)} sessions"
    if not click.confirm(f"Permanently delete {what}?", err=True):
        raise CommandError("nothing was deleted")


# -- showing


def _absolute(directory: Path | None) -> str | None:
    return None if directory is None else os.path.abspath(directory).encode("utf-8", "replace").decode()


def _row(info: SessionInfo, width: int) -> str:
    from accord.terminal_text import escape, escape_line

    title = escape_line(info.title or "", 60) or "–"
    archived = "  (archived)" if info.archived else ""
    return f"{escape(info.id):{width}}  {_when(info):16}  {title}  {escape_line(info.cwd)}{archived}"


def _when(info: SessionInfo) -> str:
    """Format the time of the last change in the local time zone."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(info.updated_at or "").astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return ""


def _print_json(objects: Any) -> None:
    import msgspec

    for each in objects:
        click.echo(msgspec.json.encode(each))


def _report_skipped(skipped: dict[str, int]) -> None:
    if skipped:
        count = sum(skipped.values())
        click.echo(
            f"skipped {count} entries that this version of Accord doesn't know; they stay in the database", err=True
        )
