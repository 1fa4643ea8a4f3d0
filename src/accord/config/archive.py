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
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from accord.errors import ConfigError

MAX_BYTES = 2 * 1024**3
MAX_FILES = 200_000
MAX_HEADER_BYTES = 1024 * 1024
"""Limit for an extended header (names and attributes) of a tar archive, which tarfile reads into memory."""


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
    except (OSError, RuntimeError) as error:  # such as a file in place of a directory, or an encrypted archive
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
    with zipfile.ZipFile(archive) as bundle:
        for info in bundle.infolist():
            mode = info.external_attr >> 16
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _not_regular(info.filename)
            if info.is_dir():
                yield Member(info.filename, 0, mode, None)
            else:
                yield Member(info.filename, info.file_size, mode, partial(bundle.open, info))


class _Header(tarfile.TarInfo):
    """A tar header with a size limit; tarfile has no setting for it."""

    def _proc_member(self, bundle: tarfile.TarFile) -> tarfile.TarInfo:
        if not (self.isreg() or self.isdir()) and self.size > MAX_HEADER_BYTES:
            raise ConfigError(
                f"the archive has a header of {self.size} bytes, which is too large; nothing was installed"
            )
        return super()._proc_member(bundle)  # type: ignore[misc,no-any-return]


def _tar(archive: Path) -> Iterator[Member]:
    with tarfile.open(archive, tarinfo=_Header) as bundle:
        for info in bundle:
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
