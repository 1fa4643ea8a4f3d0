"""Unpacks what somebody else has packed, without trusting a single name in it."""

from __future__ import annotations

import lzma
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from accord.errors import ConfigError

MOST_BYTES = 2 * 1024**3
MOST_FILES = 200_000


class Member(NamedTuple):
    """One thing in an archive: a folder when there is nothing to read."""

    name: str
    size: int
    mode: int
    read: Callable[[], IO[bytes]] | None


def unpack(archive: Path, inside: Path, *, most_bytes: int = MOST_BYTES, most_files: int = MOST_FILES) -> None:
    """Unpacks a tar or zip archive. Absolute names, `..`, links and devices are refused, whatever else is in it."""
    try:
        files = size = 0
        for member in _zip(archive) if zipfile.is_zipfile(archive) else _tar(archive):
            files, size = files + 1, size + member.size
            if files > most_files or size > most_bytes:
                raise ConfigError(f"the archive holds more than {most_files} files or {most_bytes} bytes")
            _put(member, inside / safe(member.name))
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError) as error:
        raise ConfigError(f"the archive cannot be read: {error}") from None
    except (OSError, RuntimeError) as error:  # such as a file where a folder was; an archive with a password
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
                raise _no_file(info.filename)
            if info.is_dir():
                yield Member(info.filename, 0, mode, None)
            else:
                yield Member(info.filename, info.file_size, mode, lambda info=info: bundle.open(info))  # type: ignore[misc]


def _tar(archive: Path) -> Iterator[Member]:
    with tarfile.open(archive) as bundle:
        for info in bundle:
            if info.isdir():
                yield Member(info.name, 0, info.mode, None)
            elif info.isreg():
                yield Member(info.name, info.size, info.mode, lambda info=info: _opened(bundle, info))  # type: ignore[misc]
            else:
                raise _no_file(info.name)


def _opened(bundle: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    source = bundle.extractfile(info)
    assert source is not None  # it is a plain file
    return source


def _no_file(name: str) -> ConfigError:
    return ConfigError(f"the archive holds {name!r}, which is no plain file; nothing of it is used")


def safe(name: str) -> Path:
    """A name from an archive as a path below the folder it is unpacked to."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or "\0" in name or (path.parts and ":" in path.parts[0]):
        raise ConfigError(f"the archive holds {name!r}, which leads outside of it; nothing of it is used")
    return Path(*path.parts) if path.parts else Path(".")
