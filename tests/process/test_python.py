"""The module search path of our own Python programs."""

from __future__ import annotations

import os

import pytest

from accord.process.python import safe_environment


def test_a_place_on_another_drive_is_not_in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows raises an error if there is no common path."""

    def differ(paths: list[str]) -> str:
        raise ValueError("Paths don't have the same drive")

    monkeypatch.setattr(os.path, "commonpath", differ)
    assert safe_environment({"PYTHONPATH": "/elsewhere"}, "/project") == {"PYTHONPATH": "/elsewhere"}
