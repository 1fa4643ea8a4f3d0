"""Images and PDF documents in read_file, hostile ones included."""

from __future__ import annotations

import base64
import io
import zlib
from pathlib import Path

import pytest
from PIL import Image as Pillow
from support.images import bomb, encode_image

from accord.coder.tools.documents import media
from accord.coder.tools.project import ripgrep
from accord.model.content import Image

from .conftest import Harness


def image(kind: str = "PNG", size: tuple[int, int] = (8, 8)) -> bytes:
    return base64.b64decode(encode_image(kind, size))


def open_image(found: Image) -> Pillow.Image:
    return Pillow.open(io.BytesIO(base64.b64decode(found.data)))


def pdf(*pages: str, stream: bytes | None = None, root: bytes = b"/Pages 2 0 R") -> bytes:
    """Return a document with one line of text on each page."""
    objects: list[bytes] = [b"<< /Type /Catalog " + root + b" >>"]
    kids = b" ".join(b"%d 0 R" % (4 + 2 * index) for index in range(len(pages)))
    objects.append(b"<< /Type /Pages /Kids [" + kids + b"] /Count %d >>" % len(pages))
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for index, text in enumerate(pages):
        content = b"BT /F1 12 Tf 72 720 Td (" + text.encode() + b") Tj ET" if text else b""
        data = zlib.compress(content) if stream is None else stream
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
            b" /Contents %d 0 R >>" % (5 + 2 * index)
        )
        objects.append(b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(data) + data + b"\nendstream")
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, io.SEEK_END)
    places = []
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n" % number + body + b"\nendobj\n")
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.writelines(b"%010d 00000 n \n" % place for place in places)
    out.write(b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))
    return out.getvalue()


@pytest.mark.parametrize(("kind", "sent"), [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/webp")])
async def test_an_image_is_given_to_the_model_and_the_user(harness: Harness, kind: str, sent: str) -> None:
    async with harness() as tools:
        tools.write("picture.txt", image(kind))  # its content says what it is, not its name
        result = await tools.use("read_file", file_path="picture.txt")
        assert result.text == f"[picture.txt is an image ({kind}, 8 × 8 pixels)]\n"
        assert [each.mime_type for each in result.images] == [sent]
        assert base64.b64decode(result.images[0].data) == image(kind)
        assert isinstance(tools.shown.content[0], Image)


async def test_a_gif_becomes_a_png_which_every_provider_accepts(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("a.gif", image("GIF"))
        (found,) = (await tools.use("read_file", file_path="a.gif")).images
        assert found.mime_type == "image/png"
        assert open_image(found).size == (8, 8)


async def test_a_large_image_is_scaled_down(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("a.png", image("PNG", (4000, 1000)))
        result = await tools.use("read_file", file_path="a.png")
        assert result.text == "[a.png is an image (PNG, 4,000 × 1,000 pixels), scaled down]\n"
        assert open_image(result.images[0]).size == (1568, 392)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (image()[:40], "it is damaged"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "it is damaged"),
        (base64.b64decode(bomb(30_000, 30_000)), "more than 60,000,000 pixels"),
    ],
    ids=["cut off", "garbage", "bomb"],
)
async def test_an_image_that_a_provider_would_reject_is_an_error(harness: Harness, data: bytes, problem: str) -> None:
    async with harness() as tools:
        tools.write("a.png", data)
        assert problem in await tools.call_failing("read_file", file_path="a.png")


async def test_a_program_in_the_project_is_not_run_to_read_an_image(harness: Harness) -> None:
    async with harness() as tools:
        for name in ("PIL.py", "msgspec.py", "pypdf.py"):
            tools.write(name, "open('ran', 'w')\n")
        tools.write("a.png", image())
        await tools.call("read_file", file_path="a.png")
        assert not (tools.project / "ran").exists()


async def test_a_program_in_another_directory_of_the_session_is_not_run_either(
    harness: Harness, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its modules are on the user's PYTHONPATH, and a command in the sandbox may write them."""
    other = project.parent / "other"
    monkeypatch.setenv("PYTHONPATH", str(other))
    monkeypatch.setattr(ripgrep, "find_ripgrep", lambda *_: None)
    async with harness(additional=(str(other),)) as tools:
        for name in ("PIL.py", "msgspec.py", "pypdf.py"):
            (other / name).write_text(f"open({str(other / 'ran')!r}, 'w')\n")
        tools.write("a.png", image())
        await tools.call("read_file", file_path="a.png")
        await tools.call("search", pattern="x")
        assert not (other / "ran").exists()


async def test_without_pillow_small_images_are_passed_on(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media, "find_spec", lambda name: None)
    async with harness() as tools:
        tools.write("a.png", image())
        tools.write("b.png", image("PNG", (5000, 10)))
        tools.write("c.gif", image("GIF"))
        assert (await tools.use("read_file", file_path="a.png")).images[0].mime_type == "image/png"
        for name in ("b.png", "c.gif"):
            assert "pip install pillow" in await tools.call_failing("read_file", file_path=name)


async def test_the_text_of_a_document_is_returned_by_pages(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("a.pdf", pdf("First", "Second", "Third"))
        assert await tools.call("read_file", file_path="a.pdf") == (
            "[page 1 of 3]\nFirst\n\n[page 2 of 3]\nSecond\n\n[page 3 of 3]\nThird\n"
        )
        told = await tools.call("read_file", file_path="a.pdf", offset=2, limit=1)
        assert told == "[page 2 of 3]\nSecond\n[continue with offset=3]\n"
        told = await tools.call("read_file", file_path="a.pdf", offset=9)
        assert told == "[there is no page 9; the document has 3 pages]\n"


async def test_scanned_pages_are_reported(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("a.pdf", pdf("", ""))
        assert "these pages have no text: they may be scanned" in await tools.call("read_file", file_path="a.pdf")


HUGE = zlib.compress(b"\0" * 300_000_000)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"%PDF-1.4\n", "the document a.pdf can't be read: it is damaged"),
        (b"%PDF-1.4\n" + b"[" * 100_000, "the document a.pdf can't be read: it is damaged"),
        (pdf("x", root=b"/Pages 1 0 R"), "[there is no page 1; the document has 0 pages]"),
        (pdf("x").replace(b"/Kids [4 0 R]", b"/Kids [2 0 R]"), "the document a.pdf can't be read: it is damaged"),
    ],
    ids=["empty", "deep", "no pages", "loop"],
)
async def test_a_damaged_document_is_reported(harness: Harness, data: bytes, text: str) -> None:
    async with harness() as tools:
        tools.write("a.pdf", data)
        result = await tools.use("read_file", file_path="a.pdf")
        assert text in result.text
        tools.write("b.txt", "still here\n")
        assert await tools.call("read_file", file_path="b.txt") == "still here\n"


async def test_a_page_that_unpacks_to_gigabytes_costs_bounded_memory(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("a.pdf", pdf("x", stream=HUGE))
        result = await tools.use("read_file", file_path="a.pdf")
        assert "[this page can't be read: Limit reached" in result.text
        assert "scanned" not in result.text


async def test_documents_are_read_within_the_rules(harness: Harness, project: Path) -> None:
    async with harness() as tools:
        (project.parent / "other" / "a.pdf").write_bytes(pdf("secret words"))
        (project / "link.pdf").symlink_to(project.parent / "other" / "a.pdf")
        assert "secret words" in await tools.call("read_file", file_path="link.pdf")  # everything is allowed
    async with harness(rules=()) as tools:
        assert "secret" not in (await tools.use("read_file", file_path="link.pdf")).text


async def test_line_numbers_are_returned_on_request(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("a.py", "one\ntwo\nthree\n")
        assert await tools.call("read_file", file_path="a.py", line_numbers=True) == "1: one\n2: two\n3: three\n"
        told = await tools.call("read_file", file_path="a.py", offset=2, limit=1, line_numbers=True)
        assert told == "2: two\n[lines 2 to 2 of 3; continue with offset=3]\n"
