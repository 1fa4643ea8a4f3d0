"""The order of messages in a proxy."""

from __future__ import annotations

import pytest

from accord.proxy.order import EVERYTHING, session_of


@pytest.mark.parametrize("id", [rb"\u0000", rb"\ud800", EVERYTHING.encode("utf-8", "surrogatepass")])
def test_no_session_id_stands_for_all_sessions(id: bytes) -> None:
    assert session_of(b'{"sessionId": "' + id + b'"}') != EVERYTHING
