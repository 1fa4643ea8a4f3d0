"""Where things are kept follows the environment, and the conventions of the platform."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from accord.config.folders import cache_folder, config_folder, data_folder
from accord.errors import ConfigError

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the conventions of Linux")


@pytest.mark.parametrize(
    "folder, name",
    [(config_folder, "CONFIG"), (data_folder, "DATA"), (cache_folder, "CACHE")],
    ids=["config", "data", "cache"],
)
def test_a_folder_of_ours_goes_before_all(folder: object, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"XDG_{name}_HOME", "/elsewhere")
    monkeypatch.setenv(f"ACCORD_{name}_HOME", "/mine")
    assert callable(folder) and folder() == Path("/mine")


@LINUX
def test_otherwise_it_is_as_the_platform_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ACCORD_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert data_folder() == Path("/data/accord")
    for wrong in "relative", "":
        monkeypatch.setenv("XDG_DATA_HOME", wrong)
        assert data_folder() == Path("/home/ada/.local/share/accord")


def test_without_a_home_the_way_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("ACCORD_DATA_HOME", raising=False)
    for home in unknown, lambda: Path("relative"):
        monkeypatch.setattr(Path, "home", home)
        with pytest.raises(ConfigError, match="set HOME, or ACCORD_CONFIG_HOME"):
            data_folder()
