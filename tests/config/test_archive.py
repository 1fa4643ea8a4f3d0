"""Untrusted archives: nothing gets out, and neither the files nor the headers may be too much."""

from __future__ import annotations

import gzip
import lzma
import struct
import tarfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from config.archives import EVIL_TARS, EVIL_ZIPS, tar, write_zip

from accord.config.archive import MAX_DIRECTORY_BYTES, unpack
from accord.errors import ConfigError


@pytest.mark.parametrize("kind", EVIL_TARS)
def test_a_tar_archive_that_tries_to_get_out_is_refused(tmp_path: Path, kind: str) -> None:
    inside = tmp_path / "outer" / "inside"
    inside.mkdir(parents=True)
    with pytest.raises(ConfigError, match="the archive"):
        unpack(tar(tmp_path / "evil.tar.gz", *EVIL_TARS[kind]), inside)
    assert not list(tmp_path.rglob("evil")) and not Path("/tmp/accord-evil").exists()


@pytest.mark.parametrize("kind", EVIL_ZIPS)
def test_a_zip_archive_that_tries_to_get_out_is_refused(tmp_path: Path, kind: str) -> None:
    inside = tmp_path / "outer" / "inside"
    inside.mkdir(parents=True)
    with pytest.raises(ConfigError, match="the archive"):
        unpack(write_zip(tmp_path / "evil.zip", *EVIL_ZIPS[kind]), inside)
    assert not list(tmp_path.rglob("evil")) and not Path("/tmp/accord-evil").exists()


def test_unpacked_files_have_safe_permissions(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    unpack(write_zip(tmp_path / "a.zip", ("bin/agent", b"x", 0o104777), ("notes", b"y", 0)), inside)
    assert (inside / "bin/agent").stat().st_mode & 0o7777 == 0o755
    assert (inside / "notes").stat().st_mode & 0o777 == 0o600


def test_an_archive_that_is_too_much_or_broken_is_refused(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    large = tar(tmp_path / "large.tar.gz", *((f"f{number}", b"x" * 1000) for number in range(20)))
    with pytest.raises(ConfigError, match="more than 10 files"):
        unpack(large, inside, max_files=10)
    with pytest.raises(ConfigError, match="or 5000 bytes"):
        unpack(large, tmp_path, max_bytes=5000)
    for name, data in (
        ("no.tar.gz", b"hello"),
        ("cut.tar.gz", large.read_bytes()[:80]),
        ("cut.zip", b"PK\3\4" + b"0" * 50),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ConfigError, match=r"cannot be (read|unpacked)"):
            unpack(tmp_path / name, inside)


@contextmanager
def traced() -> Iterator[Callable[[], int]]:
    """Trace allocations, and return the largest amount of memory in use."""
    tracemalloc.start()
    try:
        peaks: list[int] = []
        yield lambda: peaks[0]
        peaks.append(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


def test_a_header_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    header = tarfile.TarInfo("pax")
    header.type, header.size = tarfile.XHDTYPE, 64 * 1024 * 1024
    path = tmp_path / "bomb.tar.gz"
    with gzip.open(path, "wb", compresslevel=1) as packed:
        packed.write(header.tobuf())
        for _ in range(64):
            packed.write(bytes(1024 * 1024))
    with traced() as peak, pytest.raises(ConfigError, match="headers of 67108864 bytes"):
        unpack(path, tmp_path / "out")

    assert peak() < 8 * 1024 * 1024


def pax(kind: bytes, *names: str) -> bytes:
    """Return an extended tar header with these names, each without a value."""
    records = b"".join(b"%d %s=\n" % (len(name) + 5, name.encode()) for name in names)
    header = tarfile.TarInfo("pax")
    header.type, header.size = kind, len(records)
    return header.tobuf() + records + bytes(-len(records) % 512)


def backwards(kind: bytes) -> bytes:
    """Return a header with a negative size."""
    header = tarfile.TarInfo("back")
    header.type, header.size = kind, -1024
    return header.tobuf(tarfile.GNU_FORMAT)


def sparse_map() -> bytes:
    """Return the header of a sparse file with a long list of holes."""
    header = tarfile.TarInfo("sparse")
    header.type = tarfile.GNUTYPE_SPARSE
    start, (size, part) = bytearray(header.tobuf(tarfile.GNU_FORMAT)), (b"%011o\0" % 1, bytearray(512))
    part[: 21 * 24], part[504] = (size + size) * 21, 1  # and another part follows
    start[482] = 1
    start[148:156] = b"%06o\0 " % (sum(start[:148]) + sum(start[156:]) + 8 * ord(" "))
    return bytes(start) + bytes(part) * 20_000


HEADER_BOMBS = {
    "global headers": (
        lambda: b"".join(
            pax(tarfile.XGLTYPE, *(f"{each:02}.{at:05}" for at in range(40_000))) + tarfile.TarInfo(f"{each}").tobuf()
            for each in range(4)
        ),
        r"headers of \d+ bytes",
    ),
    "headers of one file": (
        lambda: b"".join(pax(tarfile.XHDTYPE, *(f"{at:05}" for at in range(60_000))) for _ in range(4)),
        r"headers of \d+ bytes",
    ),
    "a header of negative size": (
        lambda: b"".join(backwards(kind) for kind in (tarfile.XHDTYPE, tarfile.REGTYPE)) + bytes(2**25),
        "negative size",
    ),
    "a sparse file": (sparse_map, "'sparse', which isn't a regular file"),
}


@pytest.mark.parametrize(("content", "words"), HEADER_BOMBS.values(), ids=HEADER_BOMBS.keys())
def test_headers_that_add_up_to_more_than_the_memory_are_refused(
    tmp_path: Path, content: Callable[[], bytes], words: str
) -> None:
    path = tmp_path / "bomb.tar.gz"
    path.write_bytes(gzip.compress(content(), 1))
    with traced() as peak, pytest.raises(ConfigError, match=words):
        unpack(path, tmp_path / "out")

    assert peak() < 16 * 1024 * 1024


def test_a_negative_size_in_an_extended_header_is_refused(tmp_path: Path) -> None:
    member = tarfile.TarInfo("back")
    member.pax_headers = {"size": "-1024"}
    path = tmp_path / "back.tar"
    path.write_bytes(member.tobuf(tarfile.PAX_FORMAT) + bytes(1024))
    with suppress(ConfigError):  # newer Pythons take it for the end of the archive
        unpack(path, tmp_path / "out")

    assert not (tmp_path / "out").exists()


def test_a_global_header_is_not_kept_for_each_file(tmp_path: Path) -> None:
    path = tmp_path / "bomb.tar.gz"
    shared = pax(tarfile.XGLTYPE, *(f"{at:05}" for at in range(40_000)))
    files = b"".join(tarfile.TarInfo(f"{at}").tobuf() for at in range(40))
    path.write_bytes(gzip.compress(shared + files + bytes(1024), 1))
    with traced() as peak:
        unpack(path, tmp_path / "out")

    assert len(list((tmp_path / "out").iterdir())) == 40
    assert peak() < 16 * 1024 * 1024


def test_a_zip_archive_with_a_huge_central_directory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    entry = b"PK\1\2" + bytes(42)
    count = MAX_DIRECTORY_BYTES // len(entry) + 1
    with path.open("wb") as file:
        for _ in range(count):
            file.write(entry)
        file.write(b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, count % 65536, count % 65536, count * len(entry), 0, 0))
    with traced() as peak, pytest.raises(ConfigError, match="central directory is too large"):
        unpack(path, tmp_path / "out")

    assert peak() < 1024 * 1024


def test_an_xz_archive_is_unpacked(tmp_path: Path) -> None:
    files = {"bin/agent": b"x" * 300_000, "empty": b"", "notes": bytes(range(256)) * 1000}
    plain = tar(tmp_path / "plain.tar.gz", *files.items())
    data = gzip.decompress(plain.read_bytes())
    half = len(data) // 2
    archive = tmp_path / "agent.tar.xz"
    archive.write_bytes(lzma.compress(data[:half]) + bytes(8) + lzma.compress(data[half:], preset=9))
    unpack(archive, tmp_path / "inside")
    assert {name: (tmp_path / "inside" / name).read_bytes() for name in files} == files


def test_an_xz_archive_that_breaks_off_is_refused(tmp_path: Path) -> None:
    plain = tar(tmp_path / "plain.tar.gz", ("agent", bytes(range(256)) * 1000))
    archive = tmp_path / "agent.tar.xz"
    archive.write_bytes(lzma.compress(gzip.decompress(plain.read_bytes()))[:-400])
    with pytest.raises(ConfigError, match="the archive cannot be read"):
        unpack(archive, tmp_path / "inside")


def test_an_xz_archive_that_demands_much_memory_is_refused(tmp_path: Path) -> None:
    plain = tar(tmp_path / "plain.tar.gz", ("agent", b"x"))
    data = bytearray(lzma.compress(gzip.decompress(plain.read_bytes())))
    size = (data[12] + 1) * 4
    header = data[12 : 12 + size]
    assert header[2:4] == b"\x21\x01", "LZMA2, with one byte for the size of its dictionary"
    header[4] = 36  # 1 GiB
    header[-4:] = struct.pack("<I", zlib.crc32(header[:-4]))
    data[12 : 12 + size] = header
    archive = tmp_path / "agent.tar.xz"
    archive.write_bytes(data)
    with pytest.raises(ConfigError, match="the archive cannot be read: Memory usage limit exceeded"):
        unpack(archive, tmp_path / "inside")


def test_a_zip_archive_whose_compression_may_need_much_memory_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "agent.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_LZMA) as bundle:
        bundle.writestr("agent", b"x" * 1000)
    with pytest.raises(ConfigError, match=r"the archive's compression of 'agent' isn't supported"):
        unpack(archive, tmp_path / "inside")


def test_a_broken_sparse_file_is_refused(tmp_path: Path) -> None:
    records = b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n"
    header, member = tarfile.TarInfo("pax"), tarfile.TarInfo("sparse")
    header.type, header.size, member.size = tarfile.XHDTYPE, len(records), 512
    content = header.tobuf() + records.ljust(512, b"\0") + member.tobuf() + b"9\n1\n".ljust(512, b"\0")
    path = tmp_path / "bomb.tar"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="'sparse', which isn't a regular file"):
        unpack(path, tmp_path / "out")
