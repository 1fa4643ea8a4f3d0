"""Export a session as plain text. The caller must sanitize it for a terminal (`accord.terminal_text`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from accord.store.export.sections import Code, Media, Part, Pointer, Prose, Section

_MARKS = {"pending": "…", "in_progress": "▸", "completed": "✓", "failed": "✗", "cancelled": "–"}


def text(sections: Iterable[Section], *, thoughts: bool, contents: bool) -> Iterator[str]:
    """Yield the session section by section, optionally with thoughts and the contents of tool calls."""
    for section in sections:
        if section.kind == "thought" and not thoughts:
            continue
        heading = _heading(section)
        parts = section.parts if section.kind != "tool" or contents else []
        body = "".join(_part(part) for part in parts)
        lines = body.rstrip("\n").split("\n") if body.strip() else []
        mark = {"user": "> ", "thought": "| "}.get(section.kind, "  " if heading else "")
        yield "".join([heading, *(f"{mark}{line}".rstrip() + "\n" for line in lines), "\n"])


def _heading(section: Section) -> str:
    title = " ".join(section.title.split())
    match section.kind:
        case "tool":
            return f"{_MARKS.get(section.status, '?')} {title}\n"
        case "notice":
            return f"[{section.status}] {title}\n"
        case "compaction":
            return f"[{title}: {section.status}]\n"
        case "plan":
            return "Plan\n"
        case _:
            return ""


def _part(part: Part) -> str:
    match part:
        case Prose(text=text):
            return f"{text}\n"
        case Code(text=text):
            return text if text.endswith("\n") else f"{text}\n"
        case Media(kind=kind, mime_type=mime_type, data=data):
            return f"[{kind}, {mime_type}, {len(data) * 3 // 4:,} bytes]\n"
        case Pointer(name=name, uri=uri):
            return f"[{' '.join(filter(None, [name, uri]))}]\n"
