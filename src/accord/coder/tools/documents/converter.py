"""Convert an image or a PDF document for a model, as a separate process with limits.

    python -m accord.coder.tools.documents.converter JOB <FILE

Files of a project may be made to exhaust their reader: images of a billion pixels, documents that unpack to
gigabytes or refer to themselves. This process has limits for memory and time, and can't write files. JOB is JSON.
The output is one JSON object per line."""

from __future__ import annotations

import base64
import contextlib
import io
import logging
import sys
import warnings
from collections.abc import Iterator
from typing import Any, Union

import msgspec

MAX_MEMORY_BYTES = 1 << 30
MAX_CPU_SECONDS = 30
MAX_PIXELS = 60_000_000
MAX_PAGE_CHARACTERS = 100_000
QUALITY = 85
"""The quality of JPEG images that are encoded again."""


class ImageJob(msgspec.Struct, tag="image"):
    """Check an image, and make it smaller if necessary."""

    max_edge: int
    max_bytes: int


class PdfJob(msgspec.Struct, tag="pdf"):
    """Extract the text of some pages."""

    first: int
    limit: int
    max_characters: int


Job = Union[ImageJob, PdfJob]


def main(text: str) -> int:
    """Run a job on standard input, and print its results."""
    job: Job = msgspec.json.decode(text, type=Job)
    logging.disable()
    warnings.simplefilter("ignore")
    sys.dont_write_bytecode = True
    limit_resources()
    with open(0, "rb", closefd=False) as file:
        results = convert_image(file, job) if isinstance(job, ImageJob) else extract_pages(file, job)
        try:
            for result in results:
                sys.stdout.buffer.write(msgspec.json.encode(result) + b"\n")
                sys.stdout.buffer.flush()
        except MemoryError:
            sys.stdout.buffer.write(b'{"problem":"it needs too much memory"}\n')
    return 0


def limit_resources() -> None:
    """Limit the memory and time of this process, if the system supports it."""
    if sys.platform == "win32":  # only the parent's timeout applies
        return
    import resource

    for kind, limit in (
        (resource.RLIMIT_AS, MAX_MEMORY_BYTES),
        (resource.RLIMIT_CPU, MAX_CPU_SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            hard = resource.getrlimit(kind)[1]
            most = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
            resource.setrlimit(kind, (most, most))


# -- images


def convert_image(file: Any, job: ImageJob) -> Iterator[dict[str, Any]]:
    """Decode an image, so that a broken one is noticed here and not by the provider, and shrink it to the limits."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = MAX_PIXELS
    data = file.read()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            opened = Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "GIF", "WEBP"))
            kind, size = str(opened.format), opened.size
            image = ImageOps.exif_transpose(opened)
            image.load()
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        yield {"problem": f"it has more than {MAX_PIXELS:,} pixels"}
        return
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError) as error:
        yield {"problem": f"it is damaged ({str(error)[:200] or type(error).__name__})"}
        return
    result = {"width": size[0], "height": size[1], "format": kind, "shrunk": False}
    is_rotated = kind == "JPEG" and image.size != size
    fits = max(size) <= job.max_edge and len(data) <= job.max_bytes
    if fits and kind != "GIF" and not is_rotated:  # not every provider accepts GIF
        yield {**result, "mime": f"image/{kind.lower()}", "data": base64.b64encode(data).decode()}
        return
    for edge in (job.max_edge, job.max_edge // 2, job.max_edge // 4):
        image.thumbnail((edge, edge))
        for mime, encoded in _encodings(image, kind):
            if len(encoded) <= job.max_bytes:
                shrunk = {"shrunk": max(size) > max(image.size)}
                yield {**result, **shrunk, "mime": mime, "data": base64.b64encode(encoded).decode()}
                return
    yield {"problem": "it can't be made small enough"}


def _encodings(image: Any, kind: str) -> Iterator[tuple[str, bytes]]:
    """Yield an image as PNG, unless it is a photo, then as JPEG."""
    if kind != "JPEG":
        as_png = io.BytesIO()
        (image if image.mode in ("1", "L", "LA", "P", "RGB", "RGBA") else image.convert("RGBA")).save(as_png, "PNG")
        yield "image/png", as_png.getvalue()
    as_jpeg = io.BytesIO()
    image.convert("RGB").save(as_jpeg, "JPEG", quality=QUALITY)
    yield "image/jpeg", as_jpeg.getvalue()


# -- PDF documents


def extract_pages(file: Any, job: PdfJob) -> Iterator[dict[str, Any]]:
    """Yield the number of pages, then the text of each page that was asked for."""
    import pypdf
    from pypdf.errors import DependencyError

    try:
        reader = pypdf.PdfReader(file)
        if reader.is_encrypted and not reader.decrypt(""):
            yield {"problem": "it is protected by a password"}
            return
        count = len(reader.pages)
    except DependencyError:
        yield {"problem": "it is encrypted in a way that needs the cryptography package"}
        return
    except MemoryError:
        raise
    except Exception as error:  # a damaged document can make the library raise anything
        yield {"problem": f"it is damaged ({str(error)[:200] or type(error).__name__})"}
        return
    yield {"pages": count}
    left = job.max_characters
    for number in range(job.first, min(job.first + job.limit, count + 1)):
        try:
            text = reader.pages[number - 1].extract_text()
        except MemoryError:
            raise
        except Exception as error:
            yield {"page": number, "text": "", "problem": str(error)[:200] or type(error).__name__}
            continue
        text = text.encode(errors="replace").decode()[:MAX_PAGE_CHARACTERS]
        yield {"page": number, "text": text}
        left -= len(text)
        if left <= 0:
            return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
