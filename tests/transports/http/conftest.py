from __future__ import annotations

import pytest
from transports.http.web_server import KINDS, Certificate, Kind, make_certificate


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    """The server program: a test that uses it runs on each."""
    found: Kind = request.param
    return found


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("certificate"))
