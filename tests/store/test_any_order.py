"""Saved statements are exactly those that were appended, in any order of events."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from store.stored_agents import Disk, in_file, locked

from accord import SqliteStore, StoreFailed
from accord.model.statement import Statement
from accord.store import worker
from accord.testing.stores import EVERYTHING, info, say


@pytest.mark.parametrize("seed", range(25))
async def test_nothing_is_lost_doubled_or_moved(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "LOCK_TIMEOUT_SECONDS", 0.01)
    chance = random.Random(seed)
    path = tmp_path / "sessions.db"
    said: dict[str, list[Statement]] = {"a": [], "b": []}
    async with SqliteStore(path) as store:
        for id in said:
            await store.create(info(id))
        disk = Disk(store)

        def speak() -> None:
            for _ in range(chance.choice((1, 1, 5))):
                id = chance.choice("ab")
                words = chance.choice(
                    (say(str(chance.random()), chance.choice("mn")), *chance.choices(EVERYTHING, k=1))
                )
                statement = words if chance.random() < 0.9 else say("x" * 20_000)
                said[id].append(statement)
                store.append(id, statement)

        async def try_to_save() -> None:
            try:
                waiting = store.save()
                if chance.random() < 0.5:
                    speak()  # while it is being written
                if waiting is not None:
                    await waiting
            except StoreFailed:
                pass

        for _ in range(30):
            speak()
            match chance.choice(("save", "full", "locked", "told", "nothing")):
                case "save":
                    await try_to_save()
                case "full":
                    disk.fill()
                    await try_to_save()
                    disk.free()
                case "locked":
                    with locked(path):
                        await try_to_save()
                case "told":
                    assert [statement async for statement in store.history("a")] == said["a"]
    for id, statements in said.items():
        assert in_file(path, id) == statements
