"""Archives, packages and registries for tests: good ones, and some that try to get out."""

from __future__ import annotations

import hashlib
import io
import json
import stat
import tarfile
import zipfile
from pathlib import Path
from typing import Any

from accord.config.registry import this_platform


def tar(path: Path, *members: tuple[str, bytes | dict[str, Any] | None]) -> Path:
    """A tar archive; a member without bytes is a folder, one with a table has these fields of a `TarInfo`."""
    with tarfile.open(path, "w:gz") as bundle:
        for name, content in members:
            info = tarfile.TarInfo(name)
            data = content if isinstance(content, bytes) else b""
            info.size, info.mode = len(data), 0o644
            if content is None:
                info.type = tarfile.DIRTYPE
            elif isinstance(content, dict):
                for key, value in content.items():
                    setattr(info, key, value)
            bundle.addfile(info, io.BytesIO(data))
    return path


def write_zip(path: Path, *members: tuple[str, bytes, int]) -> Path:
    """A zip archive of names, contents and modes."""
    with zipfile.ZipFile(path, "w") as bundle:
        for name, content, mode in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            bundle.writestr(info, content)
    return path


EVIL_TARS: dict[str, list[tuple[str, Any]]] = {
    "absolute": [("/tmp/accord-evil", b"x")],
    "parent": [("../evil", b"x")],
    "deep parent": [("a/b/../../../evil", b"x")],
    "backslash": [("..\\evil", b"x")],
    "drive": [("C:/evil", b"x")],
    "link": [("link", {"type": tarfile.SYMTYPE, "linkname": "/etc"}), ("link/evil", b"x")],
    "hard link": [("link", {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"})],
    "device": [("null", {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 3})],
    "pipe": [("pipe", {"type": tarfile.FIFOTYPE})],
    "file as folder": [("a", b"x"), ("a/b", b"x")],
    "twice": [("a", b"x"), ("./a", b"y")],
}
EVIL_ZIPS: dict[str, list[tuple[str, bytes, int]]] = {
    "absolute": [("/tmp/accord-evil", b"x", 0)],
    "parent": [("../../evil", b"x", 0)],
    "backslash": [("..\\..\\evil", b"x", 0)],
    "link": [("link", b"/etc", stat.S_IFLNK | 0o777), ("link/evil", b"x", 0)],
    "device": [("null", b"", stat.S_IFCHR | 0o666)],
}


def entry(id: str, version: str = "1.0.0", **distribution: Any) -> dict[str, Any]:
    return {"id": id, "name": id, "version": version, "description": f"The {id}", "distribution": distribution}


def binary(archive: str, **more: Any) -> dict[str, Any]:
    return {this_platform(): {"archive": archive, "cmd": "./bin/agent", **more}}


def registry(path: Path, *entries: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"version": "1.0.0", "agents": list(entries), "extensions": []}))
    return path


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def npm_package(path: Path, name: str, program: str) -> Path:
    """A package as npm packs it."""
    about = {"name": name, "version": "1.0.0", "bin": {name: "run.sh"}}
    return tar(
        path,
        ("package/package.json", json.dumps(about).encode()),
        ("package/run.sh", program.encode()),
    )


def wheel(folder: Path, name: str, code: str) -> Path:
    """A Python package with a program named like it."""
    module = name.replace("-", "_")
    about = f"{module}-1.0.0.dist-info"
    path = folder / f"{module}-1.0.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr(f"{module}.py", code)
        bundle.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0.0\n")
        bundle.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        bundle.writestr(f"{about}/entry_points.txt", f"[console_scripts]\n{name} = {module}:main\n")
        bundle.writestr(f"{about}/RECORD", "")
    return path
