"""Split a session into sections (messages, tool calls, notices, plans), which every export format renders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, Union

from accord.model.content import Audio, Content, Image, Resource, ResourceLink, TextContent
from accord.model.record import Record
from accord.model.session import Compaction, Notice, Subagent
from accord.model.tool import Diff, TerminalRef, ToolCall
from accord.transcript.message import Message
from accord.transcript.transcript import Transcript

# Escape sequences and control characters, except tabs and newlines.
_CODES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])|\r(?=\n)")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Prose(Record, tag=True):
    """Text; the agent's text is Markdown."""

    text: str


class Code(Record, tag=True):
    """Preformatted text."""

    text: str
    language: str = ""


class Media(Record, tag=True):
    """An image or audio, in base64."""

    kind: Literal["image", "audio"]
    mime_type: str
    data: str


class Pointer(Record, tag=True):
    """A reference to content that isn't included."""

    name: str
    uri: str


Part = Union[Prose, Code, Media, Pointer]


class Section(Record):
    """One item of a session."""

    kind: str
    """"user", "agent", "thought", "tool", "notice", "compaction", "plan"."""
    title: str = ""
    status: str = ""
    parts: list[Part] = []


def sections(transcript: Transcript) -> Iterator[Section]:
    """Yield the sections of a session, and its last plans."""
    for item in transcript.timeline:
        match item:
            case Message(role=role):
                parts = [part for piece in item.content for part in _parts(piece)]
                if parts:
                    yield Section(kind=role, parts=parts)
            case ToolCall():
                yield _tool(item, transcript)
            case Notice():
                parts = [Prose(text=item.description)] if item.description else []
                yield Section(kind="notice", title=item.title, status=item.severity, parts=parts)
            case Subagent():
                yield Section(kind="notice", title=item.title or "A subagent", status="info")
            case Compaction():
                parts = [part for piece in item.summary for part in _parts(piece)]
                yield Section(kind="compaction", title="Context compacted", status=item.status, parts=parts)
    for plan in transcript.plans.values():
        steps = "\n".join(
            f"- [{'x' if e.status == 'completed' else ' '}] {' '.join(e.content.split())}" for e in plan.entries
        )
        text = plan.markdown or steps or plan.uri or ""
        if text:
            yield Section(kind="plan", title="Plan", parts=[Prose(text=text)])


def _tool(call: ToolCall, transcript: Transcript) -> Section:
    parts: list[Part] = [Pointer(name="", uri=_place(place.path, place.line)) for place in call.locations]
    for item in call.content:
        match item:
            case Diff(patch=patch):
                parts.append(Code(text=patch or "\n".join(change.path for change in item.changes), language="diff"))
            case TerminalRef(terminal_id=id):
                terminal = transcript.terminals.get(id)
                if terminal is not None:
                    command = f"$ {terminal.command}\n" if terminal.command else ""
                    parts.append(Code(text=command + strip_codes(terminal.text), language="console"))
            case _:
                parts += _parts(item)
    return Section(kind="tool", title=call.title or call.name or call.id, status=call.status, parts=parts)


def _place(path: str, line: int | None) -> str:
    return path if line is None else f"{path}:{line}"


def _parts(piece: Content) -> list[Part]:
    match piece:
        case TextContent(text=text):
            return [Prose(text=strip_codes(text))] if text else []
        case Image(data=data, mime_type=kind):
            return [Media(kind="image", mime_type=kind, data=data)]
        case Audio(data=data, mime_type=kind):
            return [Media(kind="audio", mime_type=kind, data=data)]
        case ResourceLink(uri=uri, name=name):
            return [Pointer(name=name, uri=uri)]
        case Resource(resource=inside):
            named = Pointer(name="", uri=inside.uri)
            return [named, Code(text=strip_codes(inside.text))] if inside.text is not None else [named]
        case _:
            return [Pointer(name=f"{piece.type} content", uri="")]


def strip_codes(text: str) -> str:
    """Remove terminal escape sequences and replace control characters."""
    return _UNSEEN.sub("\ufffd", _CODES.sub("", text)) if _UNSEEN.search(text) else text
