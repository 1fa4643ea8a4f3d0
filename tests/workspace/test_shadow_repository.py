"""Finding what commands changed: exact contents, nothing of the project runs, and what isn't covered is named."""

from __future__ import annotations

import hashlib
import os
import subprocess
import zlib
from pathlib import Path

import pytest

from accord.workspace import shadow_repository
from accord.workspace.shadow_repository import FileChange, NotCovered, ShadowRepository


@pytest.fixture
def app(tmp_path: Path) -> Path:
    (tmp_path / "app").mkdir()
    return tmp_path / "app"


@pytest.fixture
def shadow(app: Path, tmp_path: Path) -> ShadowRepository:
    return ShadowRepository(str(app), str(tmp_path / "shadow"))


def git(directory: Path, *words: str) -> None:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", *identity, *words], cwd=directory, env=env, check=True, capture_output=True)


def as_bytes(changes: list[FileChange]) -> dict[str, tuple[bytes | None, bytes | None]]:
    return {
        each.path: (
            each.before.data if each.before.kind != "absent" else None,
            each.after.data if each.after.kind != "absent" else None,
        )
        for each in changes
    }


def test_changed_created_and_deleted_files_are_found(app: Path, shadow: ShadowRepository) -> None:
    (app / "kept").write_bytes(b"kept")
    (app / "changed").write_bytes(b"one")
    (app / "deleted").write_bytes(b"\0\xff")
    (app / "link").symlink_to("kept")
    (app / "becomes").write_bytes(b"a file")
    before = shadow.take()
    (app / "changed").write_bytes(b"two")
    (app / "deleted").unlink()
    (app / "new dir").mkdir()
    (app / "new dir" / "näme\n").write_bytes(b"new")
    (app / "link").unlink()
    (app / "link").symlink_to("/etc/passwd")
    (app / "becomes").unlink()
    (app / "becomes").mkdir()
    (app / "becomes" / "inner").write_bytes(b"inner")
    assert as_bytes(shadow.compare(before, shadow.take())) == {
        "changed": (b"one", b"two"),
        "deleted": (b"\0\xff", None),
        "new dir/näme\n": (None, b"new"),
        "link": (b"kept", b"/etc/passwd"),
        "becomes": (b"a file", None),
        "becomes/inner": (None, b"inner"),
    }


def test_permissions_are_known_even_after_a_file_was_deleted(app: Path, shadow: ShadowRepository) -> None:
    for name, mode in (("private", 0o600), ("program", 0o755), ("group", 0o664)):
        (app / name).write_text("x")
        (app / name).chmod(mode)
    before = shadow.take()
    for name in ("private", "program", "group"):
        (app / name).unlink()
    found = {each.path: each.before.mode for each in shadow.compare(before, shadow.take())}
    assert found == {"private": 0o600, "program": 0o755, "group": 0o664}


def test_ignored_files_large_files_and_other_repositories_are_left_out(
    app: Path, shadow: ShadowRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shadow_repository, "MAX_FILE_BYTES", 1000)
    git(app, "init")
    (app / ".gitignore").write_text("*.o\n")
    (app / ".git" / "info" / "exclude").write_text("private\n")
    (app / "vendor").mkdir()
    git(app / "vendor", "init")
    (app / "vendor" / "a").write_text("theirs")
    (app / "large").write_text("x" * 2000)
    before = shadow.take()
    assert shadow.left_out == ["files above 0 MB", "the repository vendor"]
    for name in ("a.o", "private", "large", "vendor/a", "kept"):
        (app / name).write_text("changed" * 200 if name == "large" else "changed")
    os.mkfifo(app / "fifo")
    assert list(as_bytes(shadow.compare(before, shadow.take()))) == ["kept"]


def test_ignore_lists_of_the_repository_above_are_followed(tmp_path: Path) -> None:
    (tmp_path / "app" / "sub").mkdir(parents=True)
    git(tmp_path / "app", "init")
    (tmp_path / "app" / ".gitignore").write_text("node_modules/\n")
    shadow = ShadowRepository(str(tmp_path / "app" / "sub"), str(tmp_path / "shadow"))
    before = shadow.take()
    (tmp_path / "app" / "sub" / "node_modules").mkdir()
    (tmp_path / "app" / "sub" / "node_modules" / "a").write_text("")
    assert shadow.take().tree == before.tree


def test_contents_are_the_bytes_on_disk_whatever_the_attributes_say(app: Path, shadow: ShadowRepository) -> None:
    git(app, "init")
    (app / ".gitattributes").write_text("* text=auto eol=crlf ident\n*.u working-tree-encoding=UTF-16\n")
    (app / "a").write_bytes(b"$Id$\r\nx\r\n")
    (app / "b.u").write_bytes("x\n".encode("utf-16"))
    git(app, "add", "a")
    git(app, "commit", "-m", "x")
    before = shadow.take()
    (app / "a").unlink()
    (app / "b.u").unlink()
    assert as_bytes(shadow.compare(before, shadow.take())) == {
        "a": (b"$Id$\r\nx\r\n", None),
        "b.u": ("x\n".encode("utf-16"), None),
    }


def test_nothing_that_a_hostile_repository_configures_runs(
    app: Path, shadow: ShadowRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(app, "init")
    ran = tmp_path / "ran"
    for name in ("core.fsmonitor", "filter.x.clean", "filter.x.smudge", "filter.x.process", "core.sshCommand"):
        git(app, "config", name, f"touch {ran};:")
    git(app, "config", "filter.x.required", "true")
    hook = app / ".git" / "hooks" / "post-index-change"
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    (app / ".gitattributes").write_text("* filter=x diff=x\n")
    (app / "git").write_text(f"#!/bin/sh\ntouch {ran}\n")
    (app / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    monkeypatch.setenv("GIT_DIR", str(app / ".git"))
    before = shadow.take()
    (app / "a").write_text("new")
    assert as_bytes(shadow.compare(before, shadow.take())) == {"a": (None, b"new")}
    assert not ran.exists()


def test_a_git_that_only_the_project_has_is_not_used(
    app: Path, shadow: ShadowRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    (app / "git").write_text("#!/bin/sh\n")
    (app / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(app))
    with pytest.raises(NotCovered, match="isn't installed"):
        shadow.take()


def test_an_object_of_the_project_with_other_content_is_not_trusted(app: Path, shadow: ShadowRepository) -> None:
    git(app, "init")
    (app / "a").write_text("right\n")
    (app / "b").write_text("wrong\n")
    git(app, "add", "a", "b")

    def object_of(name: str) -> Path:
        id = subprocess.run(["git", "hash-object", name], cwd=app, capture_output=True, text=True, check=True).stdout
        return app / ".git" / "objects" / id[:2] / id[2:].strip()

    before = shadow.take()
    object_of("a").chmod(0o644)
    object_of("a").write_bytes(object_of("b").read_bytes())
    (app / "a").unlink()
    assert "a" not in as_bytes(shadow.compare(before, shadow.take()))


@pytest.mark.parametrize("kind", ["link", "file", "alternates"])
def test_another_repository_that_git_leads_to_is_not_used(app: Path, tmp_path: Path, kind: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init")
    match kind:
        case "link":
            (app / ".git").symlink_to(other / ".git")
        case "file":
            (app / ".git").write_text(f"gitdir: {other / '.git'}\n")
        case _:
            git(app, "init")
            (app / ".git" / "objects" / "info" / "alternates").write_text(f"{other / '.git' / 'objects'}\n/dev/zero\n")
    shadow = ShadowRepository(str(app), str(tmp_path / "shadow"))
    before = shadow.take()
    (app / "a").write_text("new")
    assert as_bytes(shadow.compare(before, shadow.take())) == {"a": (None, b"new")}
    assert not (app / ".git" / "index").exists()


def test_unchanged_files_are_not_read_again(app: Path, shadow: ShadowRepository) -> None:
    (app / "a").write_text("one")
    os.utime(app / "a", ns=(0, 10**18))
    first = shadow.take()
    status = os.stat(app / "a")
    shadow.take()
    index = Path(shadow._directory, "index").stat().st_mtime_ns
    assert shadow.take().tree == first.tree
    assert Path(shadow._directory, "index").stat().st_mtime_ns == index, "the index was not written"
    assert os.stat(app / "a").st_mtime_ns == status.st_mtime_ns


def test_too_many_files_are_not_covered(app: Path, shadow: ShadowRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shadow_repository, "MAX_NEW_FILES", 2)
    for name in "abc":
        (app / name).write_text("")
    with pytest.raises(NotCovered, match="too much to save: 3 files"):
        shadow.take()


def test_a_damaged_index_is_made_again(app: Path, shadow: ShadowRepository) -> None:
    (app / "a").write_text("one")
    before = shadow.take()
    Path(shadow._directory, "index").write_bytes(b"garbage")
    (app / "a").write_text("two")
    assert as_bytes(shadow.compare(before, shadow.take())) == {"a": (b"one", b"two")}


def test_pruning_keeps_what_the_index_needs(app: Path, shadow: ShadowRepository) -> None:
    (app / "a").write_text("one")
    before = shadow.take()
    shadow.prune()
    (app / "a").write_text("two")
    after = shadow.take()
    assert as_bytes(shadow.compare(before, after)) == {"a": (b"one", b"two")}


def test_a_forged_tree_in_the_project_leads_nowhere_else(app: Path, shadow: ShadowRepository) -> None:
    git(app, "init")
    (app / "inner").mkdir()
    (app / "inner" / "a").write_bytes(b"one")
    git(app, "add", ".")
    id = hashlib.sha1(b"blob 3\0one").digest()
    names = [b"../../other", b"../.vscode", b".", b".GIT", b"a"]
    forged = b"".join(b"100644 " + name + b"\0" + id for name in names)
    true = b"100644 a\0" + id
    name = hashlib.sha1(b"tree %d\0" % len(true) + true).hexdigest()
    stored = app / ".git" / "objects" / name[:2]
    stored.mkdir(exist_ok=True)
    (stored / name[2:]).write_bytes(zlib.compress(b"tree %d\0" % len(forged) + forged))
    before = shadow.take()
    (app / "inner" / "a").write_bytes(b"two")
    assert as_bytes(shadow.compare(before, shadow.take())) == {"inner/a": (b"one", b"two")}
