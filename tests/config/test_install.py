"""Getting agents onto this machine: archives nobody trusts, checksums, installs that are whole or nothing."""

from __future__ import annotations

import io
import os
import platform
import sys
import threading
from collections.abc import Iterator
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from urllib.error import HTTPError
from urllib.request import OpenerDirector

import msgspec
import pytest
from config.archives import binary, entry, registry, sha256, tar
from support.windows import refuse_like_windows

from accord.config import registry as registries
from accord.config.agents import resolve
from accord.config.directories import data_directory, remembered_file
from accord.config.download import fetch
from accord.config.install import ensure_installed, is_installed, versions
from accord.config.registry import RegistryEntry, read_registry
from accord.config.settings import Settings
from accord.errors import ConfigError, LaunchError
from accord.policy.remembered_rules import RememberedRules


def as_entry(table: dict[str, Any]) -> RegistryEntry:
    return msgspec.convert(table, RegistryEntry)


class Served:
    """Files on a server of this machine. A path may also lead elsewhere, break off, or fail."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.moved: dict[str, str] = {}
        self.cut: set[str] = set()
        self.asked: list[str] = []
        served = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                served.asked.append(self.path)
                if self.path in served.moved:
                    self.send_response(302)
                    self.send_header("Location", served.moved[self.path])
                    self.end_headers()
                elif self.path in served.files:
                    data = served.files[self.path]
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data[: len(data) // 2] if self.path in served.cut else data)
                else:
                    self.send_error(404)

            def log_message(self, *words: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def served() -> Iterator[Served]:
    served = Served()
    yield served
    served.server.shutdown()
    served.server.server_close()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tar(tmp_path / "agent.tar.gz", ("bin", None), ("bin/agent", b"#!/bin/sh\n"), ("share/data", b"d" * 100_000))


def test_a_binary_is_installed_once_and_starts_without_the_network(
    tmp_path: Path, served: Served, archive: Path
) -> None:
    served.files["/agent.tgz"] = archive.read_bytes()
    listed = as_entry(
        entry(
            "box",
            binary=binary(f"{served.url}/agent.tgz", sha256=sha256(archive).upper(), args=["--acp"], env={"A": "b"}),
        )
    )
    told: list[tuple[str, int, int]] = []
    assert not is_installed(listed, cache=tmp_path)
    made = ensure_installed(listed, cache=tmp_path, progress=lambda *step: told.append(step))
    program = tmp_path / "agents/box/1.0.0/files/bin/agent"
    assert (made.command, made.env, made.registry, made.version) == (
        [str(program), "--acp"],
        {"A": "b"},
        "box",
        "1.0.0",
    )
    assert os.access(program, os.X_OK)
    size = archive.stat().st_size
    assert told[0][0] == "downloading" and ("downloading", size, size) in told and told[-1][0] == "unpacking"
    served.files.clear()
    assert ensure_installed(listed, cache=tmp_path) == made
    assert served.asked == ["/agent.tgz"]
    assert list(versions("box", cache=tmp_path)) == ["1.0.0"]


@pytest.mark.parametrize(
    "table, words",
    [
        ({"sha256": "0" * 64}, "the archive's checksum is .*, the registry says 000.*; nothing was installed"),
        ({"cmd": "./bin/other"}, "there is no ./bin/other in its archive"),
        ({"cmd": "../agent"}, "is outside"),
    ],
)
def test_an_install_that_fails_leaves_nothing(tmp_path: Path, archive: Path, table: dict[str, str], words: str) -> None:
    listed = as_entry(entry("box", binary=binary(archive.as_uri(), **table)))
    with pytest.raises(ConfigError, match=words):
        ensure_installed(listed, cache=tmp_path / "cache")
    assert list((tmp_path / "cache/agents/box").iterdir()) == []


def test_an_install_that_is_interrupted_leaves_nothing(tmp_path: Path, archive: Path) -> None:
    def interrupt(what: str, done: int, of: int) -> None:
        raise KeyboardInterrupt

    listed = as_entry(entry("box", binary=binary(archive.as_uri())))
    with pytest.raises(KeyboardInterrupt):
        ensure_installed(listed, cache=tmp_path / "cache", progress=interrupt)
    assert list((tmp_path / "cache/agents/box").iterdir()) == []
    assert ensure_installed(listed, cache=tmp_path / "cache").version == "1.0.0"


def test_leftovers_of_a_killed_installation_are_removed(tmp_path: Path, archive: Path) -> None:
    left = tmp_path / "agents/box/.new-abc"
    left.mkdir(parents=True)
    os.utime(left, (0, 0))
    ensure_installed(as_entry(entry("box", binary=binary(archive.as_uri()))), cache=tmp_path)
    assert not left.exists()


@pytest.mark.req("V1-REG-04")
@pytest.mark.parametrize(
    ("system", "machine", "target"),
    [
        ("darwin", "arm64", "darwin-aarch64"),
        ("darwin", "x86_64", "darwin-x86_64"),
        ("linux", "aarch64", "linux-aarch64"),
        ("linux", "x86_64", "linux-x86_64"),
        ("win32", "ARM64", "windows-aarch64"),
        ("win32", "AMD64", "windows-x86_64"),
    ],
)
def test_the_binary_of_this_system_and_processor_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str, machine: str, target: str
) -> None:
    targets = [f"{os}-{processor}" for os in ("darwin", "linux", "windows") for processor in ("aarch64", "x86_64")]
    table: dict[str, Any] = {}
    for name in targets:
        packed = tar(tmp_path / f"{name}.tgz", (f"bin/{name}", b"#!/bin/sh\n"))
        table[name] = {"archive": packed.as_uri(), "cmd": f"./bin/{name}", "args": [name], "env": {"ON": name}}
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert registries.this_platform() == target
    monkeypatch.undo()
    monkeypatch.setattr("accord.config.install.this_platform", lambda: target)
    made = ensure_installed(as_entry(entry("box", binary=table)), cache=tmp_path)
    assert made.command == [str(tmp_path / f"agents/box/1.0.0/files/bin/{target}"), target]
    assert made.env == {"ON": target}


def test_another_machine_has_nothing_to_install(tmp_path: Path) -> None:
    listed = as_entry(entry("box", binary={"plan9-mips": {"archive": "https://example.org/a.tgz", "cmd": "a"}}))
    with pytest.raises(ConfigError, match=r"isn't available for .*; available: plan9-mips"):
        ensure_installed(listed, cache=tmp_path)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/a.tgz",
        "http://127.0.0.1.example.org/a.tgz",
        "http://localhost@example.org/a.tgz",
        "ftp://example.org/a.tgz",
        "data:text/plain,x",
    ],
)
def test_nothing_is_fetched_over_a_way_that_others_can_change(tmp_path: Path, url: str) -> None:
    with (tmp_path / "out").open("wb") as out, pytest.raises(ConfigError, match="only https, file, and http to this"):
        fetch(url, out, max_bytes=100)


def test_a_fetch_that_goes_wrong_says_how(tmp_path: Path, served: Served) -> None:
    served.files |= {"/large": b"x" * 1000, "/cut": b"x" * 1000}
    served.cut.add("/cut")
    served.moved |= {"/file": "file:///etc/passwd", "/away": "http://example.org/", "/here": "/large"}
    for path, words in (
        ("/none", "the server answered 404"),
        ("/large", "larger than the limit of 999 bytes"),
        ("/cut", "the connection closed after 500 of 1000 bytes"),
        ("/file", "is not allowed"),
        ("/away", "only https"),
    ):
        with (tmp_path / "out").open("wb") as out, pytest.raises(ConfigError, match=words):
            fetch(served.url + path, out, max_bytes=999)
    with (tmp_path / "out").open("wb") as out:
        fetch(f"{served.url}/here", out, max_bytes=1000)
    assert (tmp_path / "out").stat().st_size == 1000
    with (tmp_path / "out").open("wb") as out, pytest.raises(ConfigError, match="cannot be fetched"):
        fetch((tmp_path / "none").as_uri(), out, max_bytes=1000)


def test_the_response_of_a_failed_fetch_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = io.BytesIO(b"gone")
    answer = HTTPError("https://example.org/a", 410, "Gone", Message(), body)
    monkeypatch.setattr(OpenerDirector, "open", Mock(side_effect=answer))
    with (tmp_path / "out").open("wb") as out, pytest.raises(ConfigError, match="the server answered 410 Gone"):
        fetch("https://example.org/a", out, max_bytes=100)
    assert body.closed


def test_a_registry_at_a_url_is_cached_until_it_is_refreshed(tmp_path: Path, served: Served) -> None:
    path = registry(tmp_path / "registry.json", entry("a", "1.0.0", npx={"package": "a"}))
    served.files["/registry.json"] = path.read_bytes()
    url = f"{served.url}/registry.json"
    assert read_registry(url, cache=tmp_path).entries["a"].version == "1.0.0"
    registry(path, entry("a", "2.0.0", npx={"package": "a"}))
    served.files["/registry.json"] = path.read_bytes()
    assert read_registry(url, cache=tmp_path).entries["a"].version == "1.0.0"
    assert read_registry(url, refresh=True, cache=tmp_path).entries["a"].version == "2.0.0"
    served.files["/registry.json"] = b"<html>"
    with pytest.raises(ConfigError, match="invalid JSON"):
        read_registry(url, refresh=True, cache=tmp_path)
    assert read_registry(url, cache=tmp_path).entries["a"].version == "2.0.0", "what was kept stays"


def test_nothing_that_is_fetched_is_opened_twice_or_moved_while_it_is_open(
    tmp_path: Path, served: Served, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = registry(tmp_path / "registry.json", entry("box", binary=binary(f"{served.url}/agent.tgz")))
    served.files["/registry.json"], served.files["/agent.tgz"] = path.read_bytes(), archive.read_bytes()
    done = refuse_like_windows(monkeypatch)

    listed = read_registry(f"{served.url}/registry.json", cache=tmp_path).entries["box"]
    made = ensure_installed(listed, cache=tmp_path)

    assert Path(made.command[0]).is_file()
    assert [name for name in done if name.endswith(".json")], "the registry was put in its place"
    assert not [*(tmp_path / "registries").glob("tmp*")]


def test_versions_and_ids_that_are_paths_are_refused(tmp_path: Path) -> None:
    way = {"npx": {"package": "a"}}
    path = registry(
        tmp_path / "r.json",
        entry("a", "1.0.0-../../x", **way),
        entry("../b", **way),
        entry("c\n", **way),
        entry("d", "1.0.0\n", **way),
    )
    found = read_registry(path)
    assert found.entries == {} and len(found.problems) == 4


def test_an_id_of_the_configured_registry_names_an_agent(
    tmp_path: Path, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCORD_CACHE_HOME", str(tmp_path / "cache"))
    path = registry(tmp_path / "r.json", entry("box", binary=binary(archive.as_uri())))
    settings = Settings(registry=str(path))
    with pytest.raises(LaunchError, match="isn't installed; run: accord agents install box") as caught:
        resolve("box", settings)
    assert caught.value.stage == "install"
    found = resolve("box", settings, install=ensure_installed)
    assert found.argv[0].endswith("/box/1.0.0/files/bin/agent") and found.how == f"from {path}"
    assert resolve("box", settings).argv == found.argv
    with pytest.raises(LaunchError, match="did you mean box"):
        resolve("bocks", settings)


def test_what_is_remembered_is_looked_for_where_the_policy_keeps_it() -> None:
    assert remembered_file() == RememberedRules().path and remembered_file().parent == data_directory()
