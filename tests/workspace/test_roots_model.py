"""Random paths of hostile parts, compared with a simple model that resolves links as text."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from workspace.hostile_workspace import LOOT, SECRET, Planted

from accord.errors import InvalidParams, NotFound, RequestFailed
from accord.workspace.roots import MAX_LINKS, OutsideWorkspace

LINKS = {
    "in": "sub/deep",
    "in-abs": "{app}/sub",
    "in-file": "notes.txt",
    "up": "..",
    "here": ".",
    "out": "{outside}",
    "out-rel": "../outside/dir",
    "out-file": "../outside/secret.txt",
    "twin": "{app}2",
    "lib-link": "../lib",
    "round": "../lib/../app/sub",
    "back": "../outside/../app",
    "slash": "/",
    "self": "self",
    "nothing": "nope/nope",
    "nothing-out": "../outside/new",
    "chain": "in/../../in-file",
    "sub/up": "..",
    "sub/deep/far-up": "../../..",
    "sub/deep/top": "{app}",
}
NAMES = ["", ".", "..", "..", "notes.txt", "sub", "deep", "file.txt", "secret.txt", "lib.txt", "app", "app2", "lib"]
NAMES += ["outside", "nope", "dir", "...", " ", "..\\..", "%2e%2e", *{os.path.basename(name) for name in LINKS}]
STARTS = ["{app}", "{app}", "{app}", "{lib}", "{app}2", "{outside}", "{base}", "", "{app}/..", "{app}/sub/deep"]

# Steps that end where they began, at the top of `app`; mostly by ways that are allowed.
TOURS = ["", ".", "here", "sub/..", "sub/deep/../..", "in/../..", "in/../../here", "in-abs/..", "sub/up", "in/top"]
TOURS += ["../app", "up/app", "lib-link/../app", "round/..", "round/deep/far-up/app", "../lib/../app", "in/far-up/app"]
TOURS += ["back", "../outside/../app", "slash/{app}", "out/../app", "sub/../../app"]
ENDS = ["notes.txt", "in/file.txt", "in-file", "sub/deep/file.txt", "lib-link/lib.txt", "round/deep/file.txt", "chain"]
ENDS += [
    "../lib/lib.txt",
    "notes.txt/",
    "sub",
    "out-file",
    "out/secret.txt",
    "twin/secret.txt",
    "nothing",
    "self",
    "new",
]


def join(start: str, names: list[str]) -> str:
    return "/".join([start, *names])


WILD = st.builds(join, st.sampled_from(STARTS), st.lists(st.sampled_from(NAMES), max_size=9))
TOURED = st.builds(
    lambda tours, end: join("{app}", [*tours, end]),
    st.lists(st.sampled_from(TOURS), max_size=5),
    st.sampled_from(ENDS),
)
PATHS = st.one_of(WILD, TOURED)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planted]:
    planted = Planted(tmp_path_factory.mktemp("any"))
    link_up(planted)
    yield planted
    planted.close()


def link_up(planted: Planted) -> None:
    for name, target in LINKS.items():
        os.symlink(fill(target, planted), planted.app / name)


def fill(text: str, planted: Planted) -> str:
    return text.format(app=planted.app, lib=planted.lib, base=planted.base, outside=planted.outside)


def model(path: str, planted: Planted) -> type[Exception] | str:
    """Return the resolved path, or the expected error. Walks one name at a time, on strings."""
    if not path.startswith("/"):
        return InvalidParams
    roots = [str(planted.app), str(planted.lib)]

    def inside(place: str) -> bool:
        return any(place == root or place.startswith(root + "/") for root in roots)

    here, links = "/", 0
    ahead = [(name, False) for name in path.split("/")]  # a name, and whether a link says it
    is_directory = ahead[-1][0] in ("", ".", "..")
    came_in = False  # the directories above a root aren't inside any root; after the root, everything must be
    link_led_out = False  # then the link has to lead in again
    while ahead:
        name, by_link = ahead.pop(0)
        if name in ("", "."):
            continue
        if not came_in and link_led_out and not by_link:
            return OutsideWorkspace
        if name == "..":
            here = os.path.dirname(here)
            if came_in and not inside(here):
                came_in, link_led_out = False, by_link
            continue
        if not came_in and not inside(os.path.join(here, name)):
            # On the way to a root: no link is followed here and there is no turning back.
            here = os.path.join(here, name)
            if not any(root.startswith(here + "/") for root in roots) or (ahead and ahead[0][0] == ".."):
                return OutsideWorkspace
            continue
        came_in = True
        here = os.path.join(here, name)
        if here in roots:
            continue
        try:
            status = os.lstat(here)
        except (FileNotFoundError, NotADirectoryError):
            return NotFound
        if stat.S_ISLNK(status.st_mode):
            links += 1
            if links > MAX_LINKS:
                return InvalidParams
            target = os.readlink(here)
            here = os.path.dirname(here)
            if target.startswith("/"):
                here, came_in, link_led_out = "/", False, True
            ahead = [(each, True) for each in target.split("/")] + ahead
        elif any(each not in ("", ".") for each, _ in ahead) and not stat.S_ISDIR(status.st_mode):
            return NotFound
    if not inside(here):
        return OutsideWorkspace
    if os.path.isdir(here) or is_directory:
        return InvalidParams
    return here


@settings(max_examples=800, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(path=PATHS)
def test_a_read_gives_what_the_model_says(planted: Planted, path: str) -> None:
    path = fill(path, planted)
    expected = model(path, planted)
    outcome: object
    try:
        outcome = planted.files.disk.read(path)
    except RequestFailed as error:
        outcome = type(error)

    if isinstance(expected, str):
        assert outcome == Path(expected).read_text() == Path(path).read_text() != SECRET
    else:
        assert outcome is expected


def test_the_model_itself_finds_files_and_refuses_others(planted: Planted) -> None:
    def expect(path: str) -> type[Exception] | str:
        return model(fill(path, planted), planted)

    assert expect("{app}/in/../../in-file") == str(planted.app / "notes.txt")
    assert expect("{app}/round/../here/in/file.txt") == str(planted.app / "sub/deep/file.txt")
    assert expect("{app}/round/deep/far-up/app/notes.txt") is OutsideWorkspace
    assert expect("{app}/lib-link/lib.txt") == str(planted.lib / "lib.txt")
    assert expect("{app}/back/notes.txt") is OutsideWorkspace
    assert expect("{app}/up/outside/secret.txt") is OutsideWorkspace
    assert expect("{app}/nothing") is NotFound


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(paths=st.lists(PATHS, min_size=1, max_size=4))
def test_no_sequence_of_changes_touches_anything_outside(
    tmp_path_factory: pytest.TempPathFactory, paths: list[str]
) -> None:
    planted = Planted(tmp_path_factory.mktemp("changed"))
    link_up(planted)
    disk = planted.files.disk
    for number, each in enumerate(paths):
        path, last = fill(each, planted), fill(paths[number - 1], planted)
        for call, args in ((disk.write, (path, LOOT)), (disk.move, (last, path, True)), (disk.delete, (path,))):
            with suppress(RequestFailed):
                call(*args)  # type: ignore[operator]
        planted.check_outside()
    planted.close()
