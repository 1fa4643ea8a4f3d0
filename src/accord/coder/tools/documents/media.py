"""Read images and PDF documents for a model. They are decoded in another process; see `converter.py`."""

from __future__ import annotations

import asyncio
import base64
import os
import struct
from importlib.util import find_spec
from typing import Any, NamedTuple

import msgspec

from accord.coder.tools.base import Outcome, ToolContext, ToolError
from accord.coder.tools.project.paths import Found, open_file, relative
from accord.coder.tools.project.program import ProgramResult, run_program
from accord.coder.tools.text import MAX_BYTES, code_block, count_of, cut, format_size
from accord.model.content import Image
from accord.process.python import python, safe_environment

MAX_FILE_BYTES = 50_000_000
MAX_IMAGE_BYTES = 3_500_000
"""The largest image that every provider accepts, with room for its encoding as base64."""
MAX_EDGE = 1_568
"""Larger images are scaled down: models don't see more, and some providers reject them."""
MAX_UNCHECKED_BYTES = 1_000_000
"""The largest image that is passed on unchecked, where Pillow isn't installed."""
MAX_UNCHECKED_EDGE = 4_000
MAX_PAGES = 20
TIMEOUT_SECONDS = 30.0
INSTALL = "pip install 'accord-acp[coder]'"
_FORMATS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)


class Pages(NamedTuple):
    """Some pages of a document."""

    total: int
    texts: dict[int, str]
    """The text of each page, by its number."""
    problems: dict[int, str]
    is_complete: bool
    """Whether all requested pages could be read."""


def recognize(head: bytes) -> str | None:
    """Return the type of an image or a PDF document by its first bytes, whatever its name; None for anything else."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for mark, kind in _FORMATS if head.startswith(mark)), None)


async def read_image(ctx: ToolContext, found: Found, path: str, kind: str) -> Outcome:
    """Read an image, scaled down if necessary. Models that can't see get a sentence in its place."""
    if find_spec("PIL") is not None:
        result = await _convert_image(ctx, found, path)
    else:
        result = await _load_image(ctx, found, path, kind)
    image = Image(data=result["data"], mime_type=result["mime"])
    await ctx.call.show(image)
    size = f", {result['width']:,} × {result['height']:,} pixels" if "width" in result else ""
    scaled = ", scaled down" if result.get("shrunk") else ""
    text = f"[{relative(ctx, path)} is an image ({kind.removeprefix('image/').upper()}{size}){scaled}]\n"
    raw = {"path": found.path, "line": 1, "lines": 1, "total": 1, "text": text, "complete": True}
    return Outcome(text=text, images=[image], raw={**raw, "mimeType": image.mime_type})


async def _convert_image(ctx: ToolContext, found: Found, path: str) -> dict[str, Any]:
    job = {"type": "image", "max_edge": MAX_EDGE, "max_bytes": MAX_IMAGE_BYTES}
    results, done = await _run(ctx, found, path, job)
    result = results[0] if results else {"problem": _describe_end(done)}
    if "problem" in result:
        raise ToolError(f"the image {path} can't be shown: {result['problem']}")
    return result


async def _load_image(ctx: ToolContext, found: Found, path: str, kind: str) -> dict[str, Any]:
    """Return an image as it is, if it is small. Without Pillow, nothing can check it or make it smaller."""
    data = await asyncio.to_thread(_read, await open_file(ctx, found))
    size = struct.unpack(">II", data[16:24]) if kind == "image/png" and len(data) >= 24 else (0, 0)
    if len(data) > MAX_UNCHECKED_BYTES or kind == "image/gif" or max(size) > MAX_UNCHECKED_EDGE:
        raise ToolError(f"the image {path} must be converted, which needs Pillow: pip install pillow")
    return {"mime": kind, "data": base64.b64encode(data).decode()}


def _read(fd: int) -> bytes:
    with open(fd, "rb") as file:
        return file.read(MAX_UNCHECKED_BYTES + 1)


async def read_pdf(ctx: ToolContext, found: Found, path: str, first: int, limit: int | None) -> Outcome:
    """Read the text of a PDF document, page by page."""
    if find_spec("pypdf") is None:
        raise ToolError(f"{path} is a PDF document; reading it needs pypdf: {INSTALL}")
    pages = await _extract(ctx, found, path, first, min(limit or MAX_PAGES, MAX_PAGES))
    pieces: list[str] = []
    size = 0
    for number, page in pages.texts.items():
        piece = f"[page {number:,} of {pages.total:,}]\n{page.strip() or _describe_empty(number, pages)}\n"
        size += len(piece.encode())
        if size > MAX_BYTES and pieces:
            break
        pieces.append(cut(piece, len(piece.encode()[:MAX_BYTES].decode(errors="ignore"))))
    last = first + len(pieces) - 1
    more = last < pages.total
    notes = [f"continue with offset={last + 1}"] if more and pieces else []
    if not pieces:
        notes.append(
            f"there is no page {first:,}; the document has {count_of(pages.total, 'page')}"
            if first > pages.total
            else "the next page takes too much time or memory to read"
        )
    elif not pages.is_complete:
        notes.append("reading was stopped, because it took too much time or memory")
    text = "\n".join(pieces)
    shown = list(pages.texts)[: len(pieces)]
    if pieces and not any(pages.texts[number].strip() or number in pages.problems for number in shown):
        notes.append("these pages have no text: they may be scanned")
    await ctx.call.show(code_block(text))
    raw = {"path": found.path, "line": first, "lines": len(pieces), "total": pages.total, "text": text}
    raw["complete"] = first == 1 and not more and pages.is_complete
    return Outcome(text=text + "".join(f"[{note}]\n" for note in notes), raw=raw)


def _describe_empty(number: int, pages: Pages) -> str:
    problem = pages.problems.get(number)
    return f"[this page can't be read: {problem}]" if problem else "[no text]"


async def _extract(ctx: ToolContext, found: Found, path: str, first: int, limit: int) -> Pages:
    job = {"type": "pdf", "first": first, "limit": limit, "max_characters": 2 * MAX_BYTES}
    results, done = await _run(ctx, found, path, job)
    problem = next((result["problem"] for result in results if "problem" in result and "page" not in result), None)
    if not results or "pages" not in results[0]:
        raise ToolError(f"the document {path} can't be read: {problem or _describe_end(done)}")
    texts = {result["page"]: result["text"] for result in results if "page" in result}
    problems = {result["page"]: result["problem"] for result in results if "page" in result and "problem" in result}
    return Pages(results[0]["pages"], texts, problems, done.status == 0 and problem is None)


async def _run(
    ctx: ToolContext, found: Found, path: str, job: dict[str, Any]
) -> tuple[list[dict[str, Any]], ProgramResult]:
    """Run the converter on a file. It starts outside the project, so that it can't import the project's modules."""
    if found.size > MAX_FILE_BYTES:
        most = format_size(MAX_FILE_BYTES)
        raise ToolError(f"{path} is {format_size(found.size)}; only images and documents up to {most} can be read")
    home = _find_package()
    search = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    # Without keys: a malicious document could take over its reader.
    env = safe_environment({**ctx.state.secrets.environment, "PYTHONPATH": search}, found.root_real, *ctx.session.roots)
    argv = python("-m", "accord.coder.tools.documents.converter", msgspec.json.encode(job).decode())
    results: list[dict[str, Any]] = []

    def take(line: bytes) -> bool:
        try:
            results.append(msgspec.json.decode(line))
        except msgspec.DecodeError:  # it was killed in the middle of a line
            return False
        return True

    # The converter gets the open file, not its path: by then, that may lead to another.
    file = await open_file(ctx, found)
    try:
        done = await run_program(argv, take, cwd=home, env=env, seconds=TIMEOUT_SECONDS, stdin=file)
    finally:
        os.close(file)
    return results, done


def _find_package() -> str:
    """Return the directory that our own package is in."""
    import accord

    return os.path.dirname(os.path.dirname(os.path.abspath(accord.__file__)))


def _describe_end(done: ProgramResult) -> str:
    if done.timed_out:
        return f"it takes longer than {TIMEOUT_SECONDS:g} s"
    return "it takes too much time or memory"
