"""Programs that Accord runs by itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from accord.process.programs import find_program


@pytest.mark.skipif(os.name != "posix", reason="programs have other names on Windows")
def test_a_program_in_the_project_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, system = tmp_path / "project", tmp_path / "system"
    for directory in (project / "bin", system):
        directory.mkdir(parents=True)
        (directory / "tool").write_text("")
        (directory / "tool").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([".", str(project / "bin"), str(system)]))
    assert find_program("tool") == str(project / "bin" / "tool")
    assert find_program("tool", outside=[str(project)]) == str(system / "tool"), "the next one is used"
    monkeypatch.chdir(project / "bin")
    monkeypatch.setenv("PATH", ".")
    assert find_program("tool") is None, "relative entries lead into the project"
    (system / "tool").unlink()
    (system / "tool").symlink_to(project / "bin" / "tool")
    monkeypatch.setenv("PATH", str(system))
    assert find_program("tool", outside=[str(project)]) is None
