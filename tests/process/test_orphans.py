"""Nobody is left when a program that has started others is killed; `make orphans` does this 200 times each."""

from __future__ import annotations

import pytest
from process.orphans import WAYS, kill_once


@pytest.mark.parametrize("kind", ["wiped", "kills keeper", "kills supervisor"])
@pytest.mark.parametrize("way", WAYS)
def test_no_process_is_left_however_a_program_was_started_and_whatever_it_did(way: str, kind: str) -> None:
    count = kill_once(way, kind, 0.02)

    assert count.left == 0
    assert count.started, "no program was started, so this proves nothing"
