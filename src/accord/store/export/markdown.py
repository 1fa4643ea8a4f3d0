"""Export a session as Markdown. The agent's text is already Markdown. It can't affect other sections: open fences are
closed, and HTML is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from accord.model.session import SessionInfo
from accord.store.export.sections import Code, Media, Part, Pointer, Prose, Section

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_HTML = re.compile(r"^( {0,3})<(?=[!?/A-Za-z])")


def markdown(info: SessionInfo, sections: Iterable[Section]) -> Iterator[str]:
    """Yield the parts of the document."""
    yield f"# {_line(info.title or 'Session ' + info.id)}\n\n"
    yield f"- Session: {_code(info.id)}\n- Directory: {_code(info.cwd)}\n"
    if info.updated_at:
        yield f"- Last changed: {_line(info.updated_at)}\n"
    speaker = ""
    for section in sections:
        now = {"user": "User", "plan": "Plan"}.get(section.kind, "Agent")
        if now != speaker:
            yield f"\n## {now}\n"
            speaker = now
        if heading := _heading(section):
            yield f"\n{heading}"
        for part in section.parts:
            yield "\n" + _part(part, section.kind)


def _heading(section: Section) -> str:
    match section.kind:
        case "thought":
            return "*Thought*\n"
        case "tool":
            status = "" if section.status == "completed" else f" ({_line(section.status)})"
            return f"**Tool call:** {_line(section.title)}{status}\n"
        case "notice":
            return f"**{_line(section.status).capitalize()}:** {_line(section.title)}\n"
        case "compaction":
            return f"**{_line(section.title)}** ({_line(section.status)})\n"
        case _:
            return ""


def _part(part: Part, kind: str) -> str:
    match part:
        case Prose(text=text) if kind in ("user", "thought"):
            return "".join(f"> {line}\n" if line else ">\n" for line in _contain(text).rstrip("\n").split("\n"))
        case Prose(text=text):
            return _contain(text).strip("\n") + "\n"
        case Code(text=text, language=language):
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
            return f"{fence}{language}\n{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{fence}\n"
        case Media(kind="image", mime_type=mime_type, data=data) if _is_plain(mime_type, data):
            return f"![{mime_type}](data:{mime_type};base64,{data})\n"
        case Media(kind=what, mime_type=mime_type):
            return f"*{what} ({_line(mime_type)})*\n"
        case Pointer(name=name, uri=uri):
            return f"- {' '.join(filter(None, [_line(name), _code(uri) if uri else '']))}\n"


def _is_plain(mime_type: str, data: str) -> bool:
    return (
        re.fullmatch(r"[\w.+-]+/[\w.+-]+", mime_type) is not None and re.fullmatch(r"[A-Za-z0-9+/=]*", data) is not None
    )


def _contain(text: str) -> str:
    """Escape HTML and close an open fence."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = ""
        elif found and not (found[1][0] == "`" and "`" in found[2]):
            fence = found[1]
        else:
            line = _HTML.sub(r"\1&lt;", line)
        lines.append(line)
    if fence:
        lines.append(fence)
    return "\n".join(lines)


def _line(text: str) -> str:
    """Escape text and put it on one line."""
    return re.sub(r"([\\`*_<>\[\]#|])", r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    """Format text as inline code, even if it contains backticks."""
    text = " ".join(text.split())
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"
