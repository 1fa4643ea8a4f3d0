"""The directories follow the environment, and the conventions of the platform."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from accord.config.directories import cache_directory, config_directory, data_directory
from accord.errors import ConfigError

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the conventions of Linux")


@pytest.mark.parametrize(
    "folder, name",
    [(config_directory, "CONFIG"), (data_directory, "DATA"), (cache_directory, "CACHE")],
    ids=["config", "data", "cache"],
)
def test_our_own_variable_takes_precedence(folder: object, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"XDG_{name}_HOME", "/elsewhere")
    monkeypatch.setenv(f"ACCORD_{name}_HOME", "/mine")
    assert callable(folder) and folder() == Path("/mine")


@LINUX
def test_otherwise_it_is_as_the_platform_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ACCORD_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert data_directory() == Path("/data/accord")
    for wrong in "relative", "":
        monkeypatch.setenv("XDG_DATA_HOME", wrong)
        assert data_directory() == Path("/home/ada/.local/share/accord")


def test_without_a_home_the_error_names_the_variables_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_unknown_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("ACCORD_DATA_HOME", raising=False)
    for home in raise_unknown_home, lambda: Path("relative"):
        monkeypatch.setattr(Path, "home", home)
        with pytest.raises(ConfigError, match="set HOME, or ACCORD_CONFIG_HOME"):
            data_directory()
