"""Modes that ask, modes that act, and others."""

from __future__ import annotations

import pytest

from accord.model.session import Choice, Option
from accord.tui.session.mode_kind import kind_of


@pytest.mark.parametrize(
    ("id", "kind"),
    [("ask", "asks"), ("code", "acts"), ("architect", "other"), ("acceptEdits", "acts"), ("first", "asks")],
)
def test_well_known_modes_are_recognized_by_their_ids(id: str, kind: str) -> None:
    choices = [Choice(value=each, name=each) for each in ("first", id)]
    assert kind_of(Option(id="mode", name="Mode", value=id, choices=choices)) == kind
