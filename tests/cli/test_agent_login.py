"""The terminal login of the coding agent, started as clients start it: with the arguments of its login method."""

from __future__ import annotations

import asyncio

import pytest
from coder.providers.server import FakeProvider
from support.cli_runner import Accord

from accord.coder.login import auth_methods

NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}


@pytest.mark.req("V1-AUTH-17", "V2-AUTH-17")
async def test_the_arguments_of_the_login_method_only_log_in_and_exit(accord: Accord) -> None:
    (method,) = [each for each in auth_methods() if each.kind == "terminal"]
    async with FakeProvider() as fake:
        accord.config.write_text(
            f'[coder.providers.anthropic]\nbase_url = "{fake.url}"\napi_key_env = "ANTHROPIC_API_KEY"\n'
        )
        done = await asyncio.to_thread(accord, "agent", *method.args, stdin="1\ngood-key\n", env=NO_KEYRING)
        left = await asyncio.to_thread(accord, "agent", *method.args, stdin="1\n\n", env=NO_KEYRING)
    assert (done.status, done.out) == (0, ""), done.err
    assert "Saved the key for Anthropic" in done.err
    assert (left.status != 0, left.out) == (True, ""), "a client takes status 0 for success"
