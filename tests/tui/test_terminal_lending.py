"""While a login program has the terminal, the client writes nothing to it and doesn't block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from support.tui_driver import Opened

from accord.model.requests import AuthMethod
from accord.testing import ScriptedAgent


async def test_nothing_is_written_while_a_login_has_the_terminal(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []

    @contextmanager
    def suspend() -> Iterator[None]:
        yield

    async with opened(ScriptedAgent([])) as chat:
        app: Any = chat.app
        process = chat.tab.controller.process
        launch: Any = process.launch
        monkeypatch.setattr(type(app._driver), "can_suspend", True)
        monkeypatch.setattr(type(app._driver), "write", lambda driver, data: written.append(data))
        monkeypatch.setattr(app, "suspend", suspend)

        async def log_in(method: Any) -> bool:
            app._driver.write("\a")
            return True

        launch.log_in = log_in
        assert await app.questions.log_in(process, AuthMethod(id="page", name="By a page"))
        assert "\a" not in written
        app._driver.write("\a")
        assert "\a" in written
