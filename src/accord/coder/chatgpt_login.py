"""Sign in with ChatGPT: models of OpenAI, paid by the user's ChatGPT plan.

The tokens are saved where keys are saved, as one JSON object: refresh tokens can be used once, so a new one must
replace the old one durably."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import errno
import os
import socket
import sys
import webbrowser
from typing import TYPE_CHECKING

import msgspec

from accord.coder.credentials import KEYRING_SERVICE, KeyringError, call_keyring, open_keyring
from accord.coder.key_file import KeyFile
from accord.process.thread import run_in_thread

if TYPE_CHECKING:
    from pydantic_ai.providers.openai_chatgpt import OpenAIChatGPTCredentials

NAME = "chatgpt"
"""The name of the provider, under which the tokens are saved."""
PORT = 1455
"""OpenAI sends the browser back to this port of this machine, or to another one if it is in use."""
TIMEOUT_SECONDS = 600.0
"""How long the user may take in the browser."""


class SavedCredentials:
    """The tokens in the keyring or the key file, read and replaced by the provider's library."""

    async def load(self) -> OpenAIChatGPTCredentials:
        """Return the saved tokens."""
        from pydantic_ai.exceptions import UserError

        saved = await run_in_thread(read_saved)
        if saved is None:
            raise UserError("you are not logged in; run: accord login chatgpt")
        return decode(saved)

    async def save(self, credentials: OpenAIChatGPTCredentials) -> None:
        """Replace the saved tokens, where they were."""
        await run_in_thread(replace_saved, encode(credentials))


def encode(credentials: OpenAIChatGPTCredentials) -> str:
    return msgspec.json.encode(dataclasses.asdict(credentials)).decode()


def decode(saved: str) -> OpenAIChatGPTCredentials:
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.providers.openai_chatgpt import OpenAIChatGPTCredentials

    try:
        return msgspec.json.decode(saved, type=OpenAIChatGPTCredentials)
    except msgspec.MsgspecError:  # the error could quote a token
        raise UserError("the saved login is damaged; run: accord login chatgpt") from None


def read_saved() -> str | None:
    """Return the saved tokens, from the keyring or the key file; blocks."""
    try:
        if found := call_keyring(open_keyring().get_password, KEYRING_SERVICE, NAME):
            return str(found)
    except KeyringError:
        pass
    return KeyFile().read().get(NAME)


def replace_saved(value: str) -> None:
    """Save new tokens where the old ones are; blocks."""
    file = KeyFile()
    if NAME in file.read():
        file.save(NAME, value)
        return
    call_keyring(open_keyring().set_password, KEYRING_SERVICE, NAME, value)


def sign_in() -> str:
    """Let the user sign in with a browser, and return the tokens as they are saved. Raises `LoginError`."""
    from accord.coder.login import LoginError

    try:
        return asyncio.run(asyncio.wait_for(_sign_in(), TIMEOUT_SECONDS))
    except TimeoutError:
        raise LoginError("the sign-in timed out after ten minutes; nothing was saved. Run the command again") from None
    except ImportError:
        from accord.version import install_command

        raise LoginError(f"signing in needs a package: {install_command('coder')}") from None
    except OSError as error:
        raise LoginError(f"can't listen for the response of ChatGPT on this machine: {error.strerror}") from None


def _choose_port() -> int:
    """Return a port that isn't in use."""
    for port in (PORT, 0):
        with socket.socket() as candidate, contextlib.suppress(OSError):
            candidate.bind(("127.0.0.1", port))
            return int(candidate.getsockname()[1])
    raise OSError(errno.EADDRINUSE, "no port is free")


async def _sign_in() -> str:
    import click
    from pydantic_ai.exceptions import ModelAPIError, UserError
    from pydantic_ai.providers.openai_chatgpt import OpenAIChatGPTOAuthFlow

    from accord.coder.login import LoginError

    before, port = read_saved(), _choose_port()
    try:
        known = decode(before).client_id if before else None
    except UserError:
        known = None
    # The same registration is used again: each sign-in without one makes a new entry in the user's account.
    callback = f"http://127.0.0.1:{port}/auth/callback"
    flow = OpenAIChatGPTOAuthFlow(app_name="Accord", client_id=known, redirect_uri=callback)
    url = flow.authorization_url()
    click.echo(f"Sign in with ChatGPT in a browser on this machine:\n\n{url}\n", err=True)
    if "SSH_CONNECTION" in os.environ:
        click.echo(f"If your browser is elsewhere, forward the port first: ssh -L {port}:127.0.0.1:{port} …", err=True)
    elif sys.stderr.isatty():
        webbrowser.open(url)
    try:
        credentials = await flow.exchange_code_from_callback()
    except (UserError, ModelAPIError) as error:
        raise LoginError(f"{error}; nothing was saved") from None
    if not credentials.plan_usage_granted:
        raise LoginError("you didn't allow Accord to use your ChatGPT plan; nothing was saved")
    return encode(credentials)
