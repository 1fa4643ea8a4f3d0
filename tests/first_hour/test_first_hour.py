"""The first hour of a new user, in a real terminal with a local fake model server."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from first_hour.steps import STEPS, Step
from first_hour.terminal import FakeModel, NewUser
from support.prerequisites import require
from support.tmux import tmux_missing


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_a_new_user_sees_the_expected_screen(step: Step, tmp_path: Path) -> None:
    require(tmux_missing())
    with FakeModel() as model:
        user = NewUser(tmp_path, f"hour-{STEPS.index(step)}-{os.getpid()}", model if step.has_key else None)
        try:
            user.open()
            step.run(user, model)
        finally:
            user.close()
