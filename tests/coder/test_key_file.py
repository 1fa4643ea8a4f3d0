"""Keys in a file: private from the first byte, and refused if others could have read or created it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from coder.keyrings import MemoryRing, in_use
from keyring.backends import fail

from accord.coder.credentials import KEYRING_SERVICE, Keys
from accord.coder.key_file import KeyFile, KeyFileError


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KeyFile:
    monkeypatch.setenv("ACCORD_DATA_HOME", str(tmp_path / "data"))
    return KeyFile()


def test_the_file_is_private_while_it_is_written(file: KeyFile, monkeypatch: pytest.MonkeyPatch) -> None:
    modes = []
    write = os.fsync

    def look(descriptor: int) -> None:
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        write(descriptor)

    monkeypatch.setattr(os, "fsync", look)
    before = os.umask(0)
    try:
        file.save("openai", "key")
    finally:
        os.umask(before)
    assert modes == [0o600]
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    assert file.read() == {"openai": "key"}


def test_a_file_that_others_can_read_is_refused(file: KeyFile) -> None:
    file.save("openai", "key")
    file.path.chmod(0o640)
    with pytest.raises(KeyFileError, match="readable by others, so its keys aren't used; run: chmod 600"):
        file.read()
    with pytest.raises(KeyFileError):
        file.save("google", "other")
    assert "other" not in file.path.read_text()


def test_a_link_is_refused_and_its_target_is_untouched(file: KeyFile, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text('{"openai": "planted"}')
    target.chmod(0o600)
    file.path.parent.mkdir(parents=True, mode=0o700)
    file.path.symlink_to(target)
    for use in (file.read, lambda: file.save("google", "key")):
        with pytest.raises(KeyFileError, match="is a link"):
            use()
    assert target.read_text() == '{"openai": "planted"}'


def test_a_directory_that_others_can_enter_is_refused(file: KeyFile) -> None:
    file.path.parent.mkdir(parents=True)
    file.path.parent.chmod(0o755)
    with pytest.raises(KeyFileError, match="accessible to others, so no key is saved; run: chmod 700"):
        file.save("openai", "key")
    assert not file.path.exists()


def test_a_linked_directory_is_refused(file: KeyFile, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    file.path.parent.parent.mkdir()
    file.path.parent.symlink_to(elsewhere)
    with pytest.raises(KeyFileError, match="is a link or a file"):
        file.save("openai", "key")
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize("content", ["secret-key", '["secret-key"]', '{"openai": {"secret-key": 1}}'])
def test_a_damaged_file_is_reported_without_its_content(file: KeyFile, content: str) -> None:
    file.save("openai", "key")
    file.path.write_text(content)
    with pytest.raises(KeyFileError) as caught:
        file.read()
    assert "remove it, and log in again" in str(caught.value) and "secret-key" not in str(caught.value)


async def test_a_saved_key_is_used_after_the_environment_and_the_keyring(file: KeyFile) -> None:
    file.save("openai", "in-file")
    file.save("anthropic", "in-file-too")
    ring = MemoryRing()
    ring.set_password(KEYRING_SERVICE, "anthropic", "in-ring")
    keys = Keys({"GEMINI_API_KEY": "in-env"})
    with in_use(ring):
        await keys.read()
    found = {name: keys.find(name) for name in ("openai", "anthropic", "google")}
    assert {name: key.source for name, key in found.items() if key is not None} == {
        "openai": str(file.path),
        "anthropic": "keyring",
        "google": "GEMINI_API_KEY",
    }
    assert {"in-file", "in-file-too", "in-ring", "in-env"} <= keys.values(), "all of them are redacted"


async def test_without_a_keyring_the_file_is_enough(file: KeyFile) -> None:
    file.save("openai", "in-file")
    keys = Keys({})
    with in_use(fail.Keyring()):
        await keys.read()
    assert keys.find("openai") is not None and keys.problem is None
    file.path.chmod(0o644)
    keys.forget()
    with in_use(fail.Keyring()):
        await keys.read()
    assert keys.find("openai") is None and "readable by others" in str(keys.problem)
