"""accord sessions: what was said in earlier sessions, listed, found, shown, exported and deleted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from accord.cli.failing import Failure

if TYPE_CHECKING:
    from accord.model.session import SessionInfo
    from accord.store.search import Hit
    from accord.store.sqlite import SqliteStore
    from accord.transcript.transcript import Transcript

FORMATS = {"md": "Markdown", "json": "JSON", "html": "HTML"}
_SUFFIXES = {".md": "md", ".markdown": "md", ".json": "json", ".html": "html", ".htm": "html"}
_FOLDER = click.Path(path_type=Path)


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.option("--file", "file", type=_FOLDER, help="The file of sessions; the built-in agent's unless given.")
@click.pass_context
def sessions(ctx: click.Context, file: Path | None) -> None:
    """List, search, show, export and delete stored sessions. An ID may be abbreviated while it is one session's."""
    ctx.obj = file
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@sessions.command("list")
@click.option("--cwd", "folder", type=_FOLDER, help="Only sessions of this folder.")
@click.option("--all", "everything", is_flag=True, help="All of them, not just the newest fifty.")
@click.option("--archived", is_flag=True, help="Archived ones as well.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
@click.pass_obj
def list_sessions(file: Path | None, folder: Path | None, everything: bool, archived: bool, as_json: bool) -> None:
    """Show the newest sessions."""
    from accord.cli.stored import with_store

    where = _absolute(folder)

    async def find(store: SqliteStore) -> tuple[list[SessionInfo], bool]:
        page = await store.list(cwd=where, archived="include" if archived else "exclude")
        found = page.sessions
        while everything and page.next_cursor is not None:
            page = await store.list(cwd=where, cursor=page.next_cursor, archived="include" if archived else "exclude")
            found += page.sessions
        return found, page.next_cursor is not None

    nothing: tuple[list[SessionInfo], bool] = ([], False)
    found, more = with_store(file, find, nothing)
    if as_json:
        from accord.store.export.json import entry

        _print_json(map(entry, found))
        return
    if not found:
        click.echo(f"no session is kept{f' of {where}' if where else ''} yet", err=True)
        return
    width = max(len(info.id) for info in found)
    for info in found:
        click.echo(_row(info, width))
    if more:
        click.echo("these are the newest; --all shows all", err=True)


@sessions.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--cwd", "folder", type=_FOLDER, help="Only in sessions of this folder.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="So many sessions at most.")
@click.option("--thoughts", is_flag=True, help="In what the agent thought, too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
@click.pass_obj
def search(
    file: Path | None, words: tuple[str, ...], folder: Path | None, limit: int, thoughts: bool, as_json: bool
) -> None:
    """Find the sessions in which all these WORDS were said; words in quotes must stand together."""
    from accord.cli.stored import with_store

    text = " ".join(f'"{word}"' if " " in word and '"' not in word else word for word in words)
    where = _absolute(folder)
    nothing: Sequence[Hit] = []
    hits = with_store(file, lambda store: store.search(text, cwd=where, limit=limit, thoughts=thoughts), nothing)
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
        raise Failure("nothing was found")
    width = max(len(hit.session.id) for hit in hits)
    for hit in hits:
        from accord.cli.words import fit

        click.echo(_row(hit.session, width))
        found = click.style(fit(hit.hit), bold=True)
        click.echo(f"    {hit.kind}: {fit(hit.before)}{found}{fit(hit.after)}")


@sessions.command()
@click.argument("id")
@click.option("--thoughts", is_flag=True, help="What the agent thought, too.")
@click.option("--tools", is_flag=True, help="What tool calls showed: diffs, output.")
@click.pass_obj
def show(file: Path | None, id: str, thoughts: bool, tools: bool) -> None:
    """Show a session as a readable conversation."""
    from accord.cli.stored import read
    from accord.cli.words import fit, one_line
    from accord.store.export.sections import sections as of
    from accord.store.export.text import text

    info, transcript, skipped = read(file, id)
    click.echo(f"{one_line(info.title or 'Session without a title')}\n{info.id}, {one_line(info.cwd)}, {_when(info)}\n")
    for piece in text(of(transcript), thoughts=thoughts, contents=tools):
        click.echo(fit(piece), nl=False)
    _tell_skipped(skipped)


@sessions.command()
@click.argument("id")
@click.option(
    "--format", "format", type=click.Choice(sorted(FORMATS)), help="Taken from FILE's name unless given; else md."
)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="The file; else standard output.")
@click.pass_obj
def export(file: Path | None, id: str, format: str | None, output: Path | None) -> None:
    """Write a session as Markdown, JSON, or one self-contained page of HTML."""
    from accord.cli.stored import read

    info, transcript, skipped = read(file, id)
    kind = format or _SUFFIXES.get(output.suffix.lower() if output is not None else "", "md")
    pieces = _pieces(kind, info, transcript, skipped)
    if output is None or str(output) == "-":
        for piece in pieces:
            click.echo(piece, nl=False)
        _tell_skipped(skipped)
        return
    try:
        with open(output, "w", encoding="utf-8", newline="\n") as document:
            document.writelines(pieces)
    except OSError as error:
        raise Failure(f"cannot write {output}: {error.strerror or error}") from error
    click.echo(f"{info.id} is written to {output} as {FORMATS[kind]}", err=True)
    _tell_skipped(skipped)


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
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def delete(file: Path | None, ids: tuple[str, ...], yes: bool) -> None:
    """Delete sessions for good."""
    from accord.cli.stored import one, unknown, with_store

    async def named(store: SqliteStore) -> list[SessionInfo]:
        meant = {info.id: info for info in [await one(store, id) for id in ids]}
        return list(meant.values())

    nothing: list[SessionInfo] = []
    found = with_store(file, named, nothing)
    if not found:
        unknown(ids[0])
    if not yes:
        _ask(found)

    async def forget(store: SqliteStore) -> None:
        for info in found:
            await store.delete(info.id)

    with_store(file, forget, None)
    for info in found:
        click.echo(f"{info.id} is deleted", err=True)


def _ask(found: list[SessionInfo]) -> None:
    import sys

    if not sys.stdin.isatty():
        raise Failure("deleting must be confirmed, and nobody is here to ask; add --yes")
    width = max(len(info.id) for info in found)
    for info in found:
        click.echo(_row(info, width), err=True)
    what = "this session" if len(found) == 1 else f"these {len(found)} sessions"
    if not click.confirm(f"Delete {what} for good?", err=True):
        raise Failure("nothing is deleted")


# -- showing


def _absolute(folder: Path | None) -> str | None:
    return None if folder is None else os.path.abspath(folder).encode("utf-8", "replace").decode()


def _row(info: SessionInfo, width: int) -> str:
    from accord.cli.words import fit, one_line

    title = one_line(info.title or "", 60) or "–"
    archived = "  (archived)" if info.archived else ""
    return f"{fit(info.id):{width}}  {_when(info):16}  {title}  {one_line(info.cwd)}{archived}"


def _when(info: SessionInfo) -> str:
    """When it last changed, in the time of this place."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(info.updated_at or "").astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return ""


def _print_json(objects: Any) -> None:
    import msgspec

    for each in objects:
        click.echo(msgspec.json.encode(each))


def _tell_skipped(skipped: dict[str, int]) -> None:
    if skipped:
        count = sum(skipped.values())
        click.echo(
            f"{count} entries are of a kind that this version does not know; they are kept, and left out", err=True
        )
