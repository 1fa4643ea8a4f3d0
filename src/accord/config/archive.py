"""Unpack untrusted archives."""

from __future__ import annotations

import lzma
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from io import BufferedIOBase, BufferedReader, FileIO
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple, NoReturn

from accord.errors import ConfigError

MAX_BYTES = 2 * 1024**3
MAX_FILES = 200_000
MAX_HEADER_BYTES = 1024 * 1024
"""Limit for the extended headers (names and attributes) before a member of a tar archive, and for the global ones of a
whole archive. tarfile reads them into memory."""
MAX_DIRECTORY_BYTES = 32 * 1024 * 1024
"""Limit for the central directory of a zip archive, which zipfile reads into memory."""
MAX_DECODER_BYTES = 192 * 1024 * 1024
"""Limit for the memory that an xz archive demands. `xz -9` needs 65 MiB; a few bytes in a file can ask for 4 GiB."""

_XZ_MAGIC = b"\xfd7zXZ\0"
_CHUNK_BYTES = 64 * 1024
_ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)
"""Compression methods that need little memory."""


class Member(NamedTuple):
    """An entry of an archive; a directory if it has no `read`."""

    name: str
    size: int
    mode: int
    read: Callable[[], IO[bytes]] | None


def unpack(archive: Path, inside: Path, *, max_bytes: int = MAX_BYTES, max_files: int = MAX_FILES) -> None:
    """Unpack a tar or zip archive. Archives with absolute names, `..`, links or devices are rejected."""
    try:
        files = size = 0
        for member in _zip(archive) if zipfile.is_zipfile(archive) else _tar(archive):
            files, size = files + 1, size + member.size
            if files > max_files or size > max_bytes:
                raise ConfigError(f"the archive holds more than {max_files} files or {max_bytes} bytes")
            _put(member, inside / safe_path(member.name))
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError) as error:
        raise ConfigError(f"the archive cannot be read: {error}") from None
    except (OSError, RuntimeError, ValueError) as error:  # a file in place of a directory, an encrypted archive
        raise ConfigError(f"the archive cannot be unpacked: {error}") from None


def _put(member: Member, target: Path) -> None:
    if member.read is None:
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with member.read() as source, target.open("xb") as copy:
        shutil.copyfileobj(source, copy)
    target.chmod(member.mode & 0o755 | 0o600)


def _zip(archive: Path) -> Iterator[Member]:
    with _ZipReader(FileIO(archive)) as file, zipfile.ZipFile(file) as bundle:
        for info in bundle.infolist():
            mode = info.external_attr >> 16
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _not_regular(info.filename)
            if info.compress_type not in _ZIP_METHODS:
                raise ConfigError(f"the archive's compression of {info.filename!r} isn't supported")
            if info.is_dir():
                yield Member(info.filename, 0, mode, None)
            else:
                yield Member(info.filename, info.file_size, mode, partial(bundle.open, info))


class _ZipReader(BufferedReader):
    """Reads a zip archive; limits the size of its central directory, the only large part that zipfile reads at once."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > MAX_DIRECTORY_BYTES:
            raise ConfigError("the archive's central directory is too large; nothing was installed")
        return super().read(size)


class _Tar(tarfile.TarFile):
    """A tar archive that counts the bytes of its extended headers."""

    members: list[tarfile.TarInfo]
    """Those that were read, of which each has a copy of the global headers."""
    local_bytes = 0
    """Of the next member."""
    global_bytes = 0


class _Header(tarfile.TarInfo):
    """A tar header with size limits; tarfile has no setting for them."""

    def _proc_member(self, bundle: _Tar) -> tarfile.TarInfo:
        if self.size < 0:  # reading that much would read everything
            raise tarfile.ReadError("negative size")
        if self.type == tarfile.XGLTYPE:
            bundle.global_bytes += self.size
        elif not (self.isreg() or self.isdir()):
            bundle.local_bytes += self.size
        large = max(bundle.global_bytes, bundle.local_bytes)
        if large > MAX_HEADER_BYTES:
            raise ConfigError(f"the archive has headers of {large} bytes, which is too large; nothing was installed")
        return super()._proc_member(bundle)  # type: ignore[misc,no-any-return]

    def _proc_sparse(self, bundle: tarfile.TarFile) -> NoReturn:
        """Reject a sparse file. Its map of holes has no limit, and is stored in blocks that don't count as a header."""
        raise _not_regular(self.name)

    def _proc_gnusparse_10(self, member: tarfile.TarInfo, headers: object, bundle: tarfile.TarFile) -> NoReturn:
        """Reject a sparse file of the newer format, whose map is stored before its content."""
        raise _not_regular(member.name)


class _XzReader(BufferedIOBase):
    """Decompresses an xz file, which may consist of several streams, with a limit for the decoder's memory. tarfile has
    no setting for it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = lzma.LZMADecompressor(memlimit=MAX_DECODER_BYTES)

    def read(self, size: int | None = -1, /) -> bytes:
        """Read at most `size` bytes; empty only at the end."""
        data = b""
        while not data:
            more = b""
            if self._decoder.eof:
                more = self._decoder.unused_data.lstrip(b"\0")
                self._decoder = lzma.LZMADecompressor(memlimit=MAX_DECODER_BYTES)
            if not more and self._decoder.needs_input:
                more = self._file.read(_CHUNK_BYTES)
                if not more:
                    break
            data = self._decoder.decompress(more, -1 if size is None else size)
        return data


def _open_tar(file: BufferedReader) -> _Tar:
    """Open a tar archive, which tarfile decompresses unless it is an xz file."""
    if not file.peek(len(_XZ_MAGIC)).startswith(_XZ_MAGIC):
        return _Tar.open(fileobj=file, tarinfo=_Header)
    return _Tar.open(fileobj=_XzReader(file), mode="r|", tarinfo=_Header)


def _tar(archive: Path) -> Iterator[Member]:
    with archive.open("rb") as file, _open_tar(file) as bundle:
        while (info := bundle.next()) is not None:
            bundle.local_bytes = 0
            bundle.members = []
            if info.size < 0:  # as an extended header says
                raise tarfile.ReadError("negative size")
            if info.isdir():
                yield Member(info.name, 0, info.mode, None)
            elif info.isreg():
                yield Member(info.name, info.size, info.mode, partial(_open, bundle, info))
            else:
                raise _not_regular(info.name)


def _open(bundle: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    source = bundle.extractfile(info)
    assert source is not None  # it's a regular file
    return source


def _not_regular(name: str) -> ConfigError:
    return ConfigError(f"the archive holds {name!r}, which isn't a regular file; nothing was installed")


def safe_path(name: str) -> Path:
    """Convert a name from an archive to a path below the target directory, or raise `ConfigError`."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or "\0" in name or (path.parts and ":" in path.parts[0]):
        raise ConfigError(f"the archive holds {name!r}, which is outside of it; nothing was installed")
    return Path(*path.parts) if path.parts else Path(".")
