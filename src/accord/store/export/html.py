"""Export a session as a self-contained HTML page: no external resources, no scripts, all content escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape

from accord.model.session import SessionInfo
from accord.store.export.sections import Code, Media, Part, Pointer, Prose, Section, strip_codes

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
header { border-bottom: 1px solid var(--line); margin-bottom: 1.5rem; }
h1 { font-size: 1.5rem; margin-bottom: .3rem; }
header p, .title { color: #777; font-size: .9rem; margin: .2rem 0; }
section { margin: 1rem 0; overflow-wrap: anywhere; }
.user { background: var(--soft); border-radius: .5rem; padding: .6rem 1rem; }
.thought { color: #777; font-style: italic; }
.tool, .notice, .compaction, .plan { border-left: 3px solid var(--line); padding-left: 1rem; }
.failed, .error { border-color: #c44; }
.text { white-space: pre-wrap; margin: .3rem 0; }
pre { background: var(--soft); border-radius: .4rem; padding: .6rem .8rem; overflow-x: auto; font-size: .85rem; }
img { max-width: 100%; }
summary { cursor: pointer; }
""".strip()
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:"
_BLOCK = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n`]*\n(.*?)(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_SHOWN = frozenset({"user", "agent", "notice", "plan", "compaction"})


def html(info: SessionInfo, sections: Iterable[Section]) -> Iterator[str]:
    """Yield the parts of the page."""
    title = _text(info.title or f"Session {info.id}")
    changed = f" · {_text(info.updated_at)}" if info.updated_at else ""
    yield (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n"
        f"<p>{_text(info.cwd)}</p>\n<p>{_text(info.id)}{changed}</p>\n"
        "</header>\n<main>\n"
    )
    for section in sections:
        yield _section(section)
    yield "</main>\n</body>\n</html>\n"


def _section(section: Section) -> str:
    status = section.status if re.fullmatch(r"\w+", section.status) else ""
    body = "".join(_part(part) for part in section.parts)
    head = _text(section.title or ("Thought" if section.kind == "thought" else ""))
    if head and section.kind in ("tool", "notice", "compaction"):
        head += f' <span class="title">{_text(section.status)}</span>'
    if section.kind in _SHOWN or not body:
        body = (f'<p class="title">{head}</p>\n' if head else "") + body
    else:
        body = f"<details><summary>{head}</summary>\n{body}</details>\n"
    return f'<section class="{_text(section.kind)} {status}">\n{body}</section>\n'


def _part(part: Part) -> str:
    match part:
        case Prose(text=text):
            return _prose(text)
        case Code(text=text):
            return f"<pre>{_text(text)}</pre>\n"
        case Media(kind="image", mime_type=mime_type, data=data) if _is_plain("image", mime_type, data):
            return f'<img alt="{_text(mime_type)}" src="data:{mime_type};base64,{data}">\n'
        case Media(kind="audio", mime_type=mime_type, data=data) if _is_plain("audio", mime_type, data):
            return f'<audio controls src="data:{mime_type};base64,{data}"></audio>\n'
        case Media(kind=kind, mime_type=mime_type):
            return f'<p class="title">{kind} ({_text(mime_type)})</p>\n'
        case Pointer(name=name, uri=uri):
            return f'<p class="title">{" ".join(filter(None, [_text(name), _text(uri)]))}</p>\n'


def _is_plain(kind: str, mime_type: str, data: str) -> bool:
    """Return whether media is safe to embed: well-formed, and not SVG, which can contain scripts."""
    return (
        re.fullmatch(rf"{kind}/[\w.+-]+", mime_type) is not None
        and "svg" not in mime_type
        and re.fullmatch(r"[A-Za-z0-9+/=]*", data) is not None
    )


def _prose(text: str) -> str:
    """Format text and its fenced code blocks."""
    shown, at = [], 0
    for found in _BLOCK.finditer(text):
        shown.append(_paragraph(text[at : found.start()]))
        shown.append(f"<pre>{_text(found[2])}</pre>\n")
        at = found.end()
    return "".join(shown) + _paragraph(text[at:])


def _paragraph(text: str) -> str:
    text = text.strip("\n")
    return f'<div class="text" dir="auto">{_text(text)}</div>\n' if text.strip() else ""


def _text(text: str) -> str:
    return escape(strip_codes(text))
