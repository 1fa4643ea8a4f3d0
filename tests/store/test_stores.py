"""The stores of the library do what every store must."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord import MemoryStore, SessionStore, SqliteStore
from accord.testing.stores import StoreSuite


class TestMemoryStore(StoreSuite):
    def new_store(self) -> SessionStore:
        return MemoryStore()


class TestSqliteStore(StoreSuite):
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path) -> None:
        self.path = tmp_path / "data" / "sessions.db"

    def new_store(self) -> SessionStore:
        return SqliteStore(self.path)

    async def reopen(self, store: SessionStore) -> SessionStore:
        await store.close()
        return SqliteStore(self.path)
