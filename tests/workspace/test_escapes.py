"""No path escapes the workspace: every call is tried with every attack on a secret outside."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from workspace.hostile_workspace import LOOT, SECRET, Planted

from accord.errors import INVALID_PARAMS, RESOURCE_NOT_FOUND, InvalidParams, NotFound, RequestFailed
from accord.workspace.roots import OutsideWorkspace, Roots

OUT = OutsideWorkspace
BAD = InvalidParams
GONE = NotFound


class Attack(NamedTuple):
    path: str
    """With {app}, {lib}, {base}, {outside}, {fd} and {dirfd} to be filled in."""
    read: type[RequestFailed]
    write: type[RequestFailed] | None
    """None where the path is an odd name inside the workspace, which may be made."""
    link: tuple[str, str] | None = None
    """Made first: a name in the workspace, and what it says."""
    plant: Callable[[Planted], None] | None = None


def fifo(place: str) -> Callable[[Planted], None]:
    return lambda planted: os.mkfifo(planted.base / place)


def unix_socket(planted: Planted) -> None:
    here = os.open(planted.app, os.O_PATH)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"/proc/self/fd/{here}/sock")
    os.close(here)


def chain(length: int, end: str) -> Callable[[Planted], None]:
    def plant(planted: Planted) -> None:
        for number in range(length):
            os.symlink(f"chain{number + 1}", planted.app / f"chain{number}")
        os.symlink(end.format(outside=planted.outside), planted.app / f"chain{length}")

    return plant


def by_way_of_lib(planted: Planted) -> None:
    os.symlink(planted.lib / "exit", planted.app / "hop")
    os.symlink(planted.outside, planted.lib / "exit")


def link_in(planted: Planted) -> None:
    os.symlink("sub", planted.app / "in")


def odd_link(planted: Planted) -> None:
    os.symlink(os.fsencode(planted.outside) + b"/\xff", os.fsencode(planted.app) + b"/odd")


def deep(planted: Planted) -> None:
    (planted.app / ("d/" * 90)).mkdir(parents=True)


ATTACKS: dict[str, Attack] = {
    # not absolute
    "relative": Attack("notes.txt", BAD, BAD),
    "relative with a dot": Attack("./notes.txt", BAD, BAD),
    "relative upwards": Attack("../outside/secret.txt", BAD, BAD),
    "empty": Attack("", BAD, BAD),
    "home": Attack("~/secret.txt", BAD, BAD),
    "a URI": Attack("file://{outside}/secret.txt", BAD, BAD),
    "a space first": Attack(" {app}/notes.txt", BAD, BAD),
    # upwards
    "dots": Attack("{app}/../outside/secret.txt", OUT, OUT),
    "dots from below": Attack("{app}/sub/../../outside/secret.txt", OUT, OUT),
    "dots between dots": Attack("{app}/./.././outside/secret.txt", OUT, OUT),
    "dots between slashes": Attack("{app}//..///outside//secret.txt", OUT, OUT),
    "dots without end": Attack("{app}" + "/.." * 60 + "{outside}/secret.txt", OUT, OUT),
    "dots to the system": Attack("{app}" + "/.." * 60 + "/etc/passwd", OUT, OUT),
    "dots after nothing": Attack("{app}/nope/../../outside/secret.txt", GONE, GONE),
    "dots after a file": Attack("{app}/notes.txt/../../outside/secret.txt", GONE, GONE),
    "dots through the other root": Attack("{app}/../lib/../outside/secret.txt", OUT, OUT),
    "dots past a stranger into a root": Attack("{app}/../outside/../app/notes.txt", OUT, OUT),
    "dots at the end": Attack("{app}/sub/../..", OUT, OUT),
    "escaped dots": Attack("{app}/%2e%2e/outside/secret.txt", GONE, None),
    "wide dots": Attack("{app}/．．/outside/secret.txt", GONE, None),
    "three dots": Attack("{app}/.../outside/secret.txt", GONE, None),
    "backslashes": Attack("{app}\\..\\outside\\secret.txt", OUT, OUT),
    "backslashes below": Attack("{app}/..\\..\\outside\\secret.txt", GONE, None),
    # elsewhere
    "plainly outside": Attack("{outside}/secret.txt", OUT, OUT),
    "the directory above": Attack("{base}/secret.txt", OUT, OUT),
    "the system": Attack("/etc/passwd", OUT, OUT),
    "two slashes": Attack("//etc/passwd", OUT, OUT),
    "the root of all": Attack("/", OUT, OUT),
    "a longer twin": Attack("{app}2/secret.txt", OUT, OUT),
    "a twin with an extension": Attack("{app}.bak/secret.txt", OUT, OUT),
    "a shorter twin": Attack("{base}/ap/secret.txt", OUT, OUT),
    "a twin by dots": Attack("{app}/../app2/secret.txt", OUT, OUT),
    "another case": Attack("{base}/APP/../outside/secret.txt", OUT, OUT),
    # links
    "link to a file": Attack("{app}/a", OUT, OUT, ("a", "{outside}/secret.txt")),
    "relative link to a file": Attack("{app}/a", OUT, OUT, ("a", "../outside/secret.txt")),
    "link to a directory": Attack("{app}/a/secret.txt", OUT, OUT, ("a", "{outside}")),
    "relative link to a directory": Attack("{app}/sub/a/secret.txt", OUT, OUT, ("sub/a", "../../outside")),
    "link to a directory, for a new file": Attack("{app}/a/new/new.txt", OUT, OUT, ("a", "{outside}")),
    "link to a directory, with a slash": Attack("{app}/a/", OUT, OUT, ("a", "{outside}")),
    "link to a twin": Attack("{app}/a/secret.txt", OUT, OUT, ("a", "{app}2")),
    "link to the root of all": Attack("{app}/a{outside}/secret.txt", OUT, OUT, ("a", "/")),
    "link upwards": Attack("{app}/a/outside/secret.txt", OUT, OUT, ("a", "..")),
    "link to itself, upwards": Attack("{app}/a/../../outside/secret.txt", OUT, OUT, ("a", ".")),
    "link out by the way in": Attack("{app}/a", OUT, OUT, ("a", "../app/../outside/secret.txt")),
    "link in by the way out": Attack("{app}/a", OUT, OUT, ("a", "../outside/../app/notes.txt")),
    "link in the other root": Attack("{app}/hop/secret.txt", OUT, OUT, plant=by_way_of_lib),
    "chain of links": Attack("{app}/chain0", OUT, OUT, plant=chain(5, "{outside}/secret.txt")),
    "endless chain of links": Attack("{app}/chain0", BAD, BAD, plant=chain(60, "{outside}/secret.txt")),
    "circle of links": Attack("{app}/chain0", BAD, BAD, plant=chain(3, "chain0")),
    "link to itself": Attack("{app}/a", BAD, BAD, ("a", "a")),
    "link to itself, below": Attack("{app}/a/b", BAD, BAD, ("a", "a/a")),
    "link to a name that is not UTF-8": Attack("{app}/odd", BAD, BAD, plant=odd_link),
    "dangling link": Attack("{app}/a", OUT, OUT, ("a", "{outside}/new.txt")),
    "relative dangling link": Attack("{app}/a", OUT, OUT, ("a", "../outside/new.txt")),
    "dangling link to a directory": Attack("{app}/a/new.txt", OUT, OUT, ("a", "{outside}/new")),
    "dangling link inside": Attack("{app}/a", GONE, BAD, ("a", "sub/new.txt")),
    "dangling link past a link": Attack("{app}/a", GONE, BAD, ("a", "in/new.txt"), link_in),
    "dangling link to a directory inside": Attack("{app}/a/b/new.txt", GONE, BAD, ("a", "new")),
    # the system's own links
    "proc root": Attack("/proc/self/root{outside}/secret.txt", OUT, OUT),
    "proc cwd": Attack("/proc/self/cwd/secret.txt", OUT, OUT),
    "proc descriptor": Attack("/proc/self/fd/{fd}", OUT, OUT),
    "dev descriptor": Attack("/dev/fd/{dirfd}/secret.txt", OUT, OUT),
    "link to proc root": Attack("{app}/a{outside}/secret.txt", OUT, OUT, ("a", "/proc/self/root")),
    "link to a descriptor": Attack("{app}/a", OUT, OUT, ("a", "/proc/self/fd/{fd}")),
    "link to a directory's descriptor": Attack("{app}/a/secret.txt", OUT, OUT, ("a", "/dev/fd/{dirfd}")),
    "link to the environment": Attack("{app}/a", OUT, OUT, ("a", "/proc/self/environ")),
    # no files
    "directory": Attack("{app}/sub", BAD, BAD),
    "directory, with a slash": Attack("{app}/sub/", BAD, BAD),
    "the root itself": Attack("{app}", BAD, BAD),
    "file spelled as a directory": Attack("{app}/notes.txt/", BAD, BAD),
    "FIFO": Attack("{app}/pipe", BAD, BAD, plant=fifo("app/pipe")),
    "link to a FIFO": Attack("{app}/a", BAD, BAD, ("a", "pipe"), fifo("app/pipe")),
    "link to a FIFO outside": Attack("{app}/a", OUT, OUT, ("a", "{base}/pipe"), fifo("pipe")),
    "socket": Attack("{app}/sock", BAD, BAD, plant=unix_socket),
    "device": Attack("/dev/zero", OUT, OUT),
    "link to a device": Attack("{app}/a", OUT, OUT, ("a", "/dev/zero")),
    "link to the terminal": Attack("{app}/a", OUT, OUT, ("a", "/dev/tty")),
    # odd names
    "zero byte": Attack("{app}/notes.txt\0.png", BAD, BAD),
    "zero byte after the root": Attack("{app}\0/../outside/secret.txt", BAD, BAD),
    "long name": Attack("{app}/" + "n" * 300, BAD, BAD),
    "long name of a directory": Attack("{app}/" + "n" * 300 + "/../notes.txt", BAD, BAD),
    "long path": Attack("{app}" + "/sub/.." * 1000 + "/notes.txt", BAD, BAD),
    "many steps": Attack("{app}/" + "d/" * 90 + "../d/" * 500 + "notes.txt", BAD, BAD, plant=deep),
    "half a character": Attack("{app}/\ud800.txt", BAD, BAD),
    "smuggled bytes": Attack("{app}/\udcff.txt", BAD, BAD),
}


@pytest.fixture
def planted(tmp_path: Path) -> Iterator[Planted]:
    planted = Planted(tmp_path)
    yield planted
    planted.close()


@pytest.fixture(scope="module")
def beside() -> Iterator[ThreadPoolExecutor]:
    """Calls are made in a thread, so that one that hangs on a FIFO fails the test instead of holding it."""
    with ThreadPoolExecutor(1) as pool:
        yield pool


def prepare(planted: Planted, attack: Attack) -> tuple[str, list[int]]:
    descriptors = [os.open(planted.outside / "secret.txt", os.O_RDWR), os.open(planted.outside, os.O_RDONLY)]
    names = {"fd": descriptors[0], "dirfd": descriptors[1]}
    names |= {name: str(getattr(planted, name)) for name in ("base", "app", "lib", "outside")}  # type: ignore[misc]
    if attack.plant is not None:
        attack.plant(planted)
    if attack.link is not None:
        name, target = attack.link
        os.symlink(target.format(**names), planted.app / name)
    planted.plant()
    return attack.path.format(**names), descriptors


@pytest.mark.req("V1-SETUP-22", "V1-SETUP-23", "V1-FS-09")
@pytest.mark.parametrize("name", ATTACKS)
def test_no_call_escapes_the_workspace(name: str, planted: Planted, beside: ThreadPoolExecutor) -> None:
    attack = ATTACKS[name]
    path, descriptors = prepare(planted, attack)
    disk = planted.files.disk
    inside = str(planted.app / "notes.txt")
    fresh = str(planted.app / "sub/fresh.txt")

    def attempt(call: Callable[..., object], *args: object) -> object:
        try:
            return beside.submit(call, *args).result(timeout=300)
        except RequestFailed as error:
            return error
        finally:
            planted.check_outside()

    assert isinstance(attempt(disk.read, path), attack.read)
    assert isinstance(attempt(disk.read, path, 1, 1), attack.read)
    written = attempt(disk.write, path, LOOT)
    assert isinstance(written, attack.write) if attack.write is not None else written is None
    listed = attempt(disk.list, path)
    assert isinstance(listed, RequestFailed) or {entry.name for entry in listed} <= {"notes.txt", "sub", "deep"}  # type: ignore[attr-defined]
    seen = attempt(disk.exists, path)
    if attack.read is OutsideWorkspace:
        assert isinstance(seen, OutsideWorkspace)  # not even its existence is revealed
    # A path to a link in the workspace may move or delete the link, but never its target.
    attempt(disk.move, inside, path, True)
    attempt(disk.move, path, fresh)
    attempt(disk.delete, path)
    attempt(disk.write, path, LOOT)
    for place in (inside, fresh):
        if os.path.isfile(place) and not os.path.islink(place):
            assert SECRET not in Path(place).read_text()
    for descriptor in descriptors:
        os.close(descriptor)


def test_there_are_enough_attacks() -> None:
    assert len(ATTACKS) >= 40


def test_the_labels_say_what_is_allowed(planted: Planted) -> None:
    with pytest.raises(OutsideWorkspace) as refused:
        planted.files.disk.read("/etc/passwd")

    assert refused.value.code == INVALID_PARAMS
    assert "'/etc/passwd'" in refused.value.message
    assert str(planted.app) in refused.value.message and str(planted.lib) in refused.value.message


def test_a_missing_file_has_its_own_code(planted: Planted) -> None:
    with pytest.raises(NotFound) as missing:
        planted.files.disk.read(str(planted.app / "nope.txt"))

    assert missing.value.code == RESOURCE_NOT_FOUND
    assert missing.value.data == {"path": str(planted.app / "nope.txt")}


@pytest.mark.parametrize(
    "path, text",
    [
        ("{app}/notes.txt", "notes\n"),
        ("{app}//sub/./deep/../../notes.txt", "notes\n"),
        ("{app}/../app/notes.txt", "notes\n"),
        ("{app}/../lib/lib.txt", "lib\n"),
        ("{lib}/../app/sub/../notes.txt", "notes\n"),
        ("{app}/inner", "deep\n"),
        ("{app}/folder/file.txt", "deep\n"),
        ("{app}/folder/../deep/file.txt", "deep\n"),
        ("{app}/other", "lib\n"),
        ("{app}/round/notes.txt", "notes\n"),
        ("{alias}/notes.txt", "notes\n"),
    ],
)
def test_every_way_inside_is_open(planted: Planted, path: str, text: str) -> None:
    os.symlink("sub/deep/file.txt", planted.app / "inner")
    os.symlink(planted.app / "sub/deep", planted.app / "folder")
    os.symlink("../lib/lib.txt", planted.app / "other")
    os.symlink("../lib/../app", planted.app / "round")
    alias = planted.base / "alias"
    alias.symlink_to("app")
    with Roots(str(alias), [str(planted.lib)]) as roots:
        for each in (roots, planted.roots) if "{alias}" not in path else (roots,):
            planted.files.disk.roots = each
            assert planted.files.disk.read(path.format(app=planted.app, lib=planted.lib, alias=alias)) == text


@pytest.mark.parametrize("path", ["/proc/self/environ", "/proc/self/mem", "/proc/self/cmdline", "/sys/kernel/notes"])
def test_kernel_file_systems_are_refused_even_if_the_root_contains_them(path: str, planted: Planted) -> None:
    with Roots("/") as roots:
        planted.files.disk.roots = roots
        with pytest.raises(InvalidParams):
            planted.files.disk.read(path)
        with pytest.raises(InvalidParams):
            planted.files.disk.write(path, LOOT)
        with pytest.raises(InvalidParams, match="is in a system directory"):
            planted.files.disk.list("/proc/self/")
        with pytest.raises(InvalidParams, match="is a device"):
            planted.files.disk.read("/dev/zero")
        assert planted.files.disk.read(str(planted.app / "notes.txt")) == "notes\n"


def test_descriptors_do_not_leak(planted: Planted) -> None:
    os.symlink(planted.outside, planted.app / "a")
    paths = [
        "notes.txt",
        "sub/../sub/deep/file.txt",
        "a/secret.txt",
        "nope/nope",
        "sub",
        "../lib/lib.txt",
        "new/x/y.txt",
    ]
    before = len(os.listdir("/proc/self/fd"))
    for path in paths:
        for call in (planted.files.disk.read, planted.files.disk.list, planted.files.disk.exists):
            with suppress(RequestFailed):
                call(str(planted.app / path))
        with suppress(RequestFailed):
            planted.files.disk.write(str(planted.app / path), LOOT)
            planted.files.disk.move(str(planted.app / path), str(planted.app / "moved.txt"), True)
            planted.files.disk.delete(str(planted.app / "moved.txt"))

    assert len(os.listdir("/proc/self/fd")) == before


def test_a_closed_workspace_serves_nothing(planted: Planted) -> None:
    planted.close()
    planted.close()
    with pytest.raises(RequestFailed, match="the workspace is closed"):
        planted.files.disk.read(str(planted.app / "notes.txt"))


def test_a_removed_workspace_is_reported(planted: Planted, tmp_path: Path) -> None:
    (tmp_path / "brief").mkdir()
    with Roots(str(tmp_path / "brief")) as roots:
        os.rmdir(tmp_path / "brief")
        planted.files.disk.roots = roots
        with pytest.raises(NotFound, match="was removed"):
            planted.files.disk.read(str(tmp_path / "brief/file.txt"))


@pytest.mark.parametrize(
    "path, error", [("relative", InvalidParams), ("{app}/notes.txt", InvalidParams), ("{app}/nope", NotFound)]
)
def test_a_root_is_an_absolute_directory_that_exists(planted: Planted, path: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        Roots(path.format(app=planted.app))


def test_a_directory_that_may_not_be_listed_can_be_passed(planted: Planted) -> None:
    os.chmod(planted.app / "sub", 0o311)
    assert planted.files.disk.read(str(planted.app / "sub/deep/file.txt")) == "deep\n"
    os.chmod(planted.app / "sub", 0o755)
