"""Tokens and tickets: generated, saved as hashes, and gone when they are revoked, expired or used."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from accord.config.redaction import redact_text
from accord.errors import ConfigError
from accord.hub.principal import Principal
from accord.server.tickets import Tickets
from accord.server.tokens import TokenFile, Tokens, generate_token, hash_token


@pytest.fixture
def file(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "serve" / "tokens.json", clock=lambda: 1000.0)


def test_a_token_has_256_random_bits_and_is_redacted_everywhere() -> None:
    tokens = {generate_token() for _ in range(100)}
    assert len(tokens) == 100 and all(len(token) == len("accord_") + 43 for token in tokens)
    assert all(token not in redact_text(f"failed with {token}") for token in tokens)


def test_only_the_hash_is_saved_and_only_the_owner_can_read_it(file: TokenFile) -> None:
    token = file.create("ci", "watcher", expires=2000.0)
    assert token not in file.path.read_text()
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    (record,) = file.load()
    assert (record.name, record.role, record.hash, record.expires) == ("ci", "watcher", hash_token(token), 2000.0)


def test_a_token_identifies_its_principal(file: TokenFile) -> None:
    token = file.create("ci", "watcher")
    identity = Tokens(file).identify(token)
    assert identity is not None and identity.principal == Principal("ci", "watcher")
    assert Tokens(file).identify(token[:-1]) is None
    assert Tokens(file).identify(hash_token(token)) is None
    assert Tokens(file).identify("") is None


def test_a_running_server_notices_new_and_revoked_tokens(file: TokenFile) -> None:
    tokens = Tokens(file)
    token = file.create("ci")
    identity = tokens.identify(token)
    assert identity is not None and tokens.is_valid(identity)

    file.revoke("ci")
    assert tokens.refresh() and not tokens.is_valid(identity) and tokens.identify(token) is None

    file.create("ci")  # another one with the same name is another credential
    assert tokens.refresh() and not tokens.is_valid(identity)


def test_a_token_expires(file: TokenFile) -> None:
    now = 1000.0
    token = file.create("ci", expires=1060.0)
    tokens = Tokens(file, clock=lambda: now)
    identity = tokens.identify(token)
    assert identity is not None and tokens.is_valid(identity)
    now = 1060.0
    assert tokens.identify(token) is None and not tokens.is_valid(identity)


def test_the_local_token_is_an_admin_and_not_in_the_file(file: TokenFile) -> None:
    tokens = Tokens(file, local="accord_local")
    identity = tokens.identify("accord_local")
    assert identity is not None and identity.principal == Principal("local", "admin")
    assert not file.path.exists()


@pytest.mark.parametrize("content", ["", "{", '{"tokens": [{"name": 1}]}', "\x00\xff"])
def test_while_the_file_is_damaged_no_token_of_it_is_valid(content: str, file: TokenFile) -> None:
    token = file.create("ci")
    tokens = Tokens(file, local="accord_local")
    file.path.write_text(content)
    assert tokens.identify(token) is None and tokens.problem
    assert tokens.identify("accord_local") is not None


def test_a_file_that_others_can_read_is_refused(file: TokenFile) -> None:
    token = file.create("ci")
    file.path.chmod(0o644)
    tokens = Tokens(file)
    assert tokens.identify(token) is None
    assert f"chmod 600 {file.path}" in tokens.problem


@pytest.mark.skipif(sys.platform == "win32", reason="files have no such owners")
def test_a_file_of_another_user_is_refused(file: TokenFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root could be given one in a directory that the other user has prepared."""
    file.create("ci")
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    with pytest.raises(ConfigError, match="belongs to another user"):
        file.load()


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "x" * 65, "local", "web", "ci\n"])
def test_names_are_plain(name: str, file: TokenFile) -> None:
    with pytest.raises(ConfigError):
        file.create(name)


def test_two_tokens_never_share_a_name(file: TokenFile) -> None:
    file.create("ci")
    with pytest.raises(ConfigError, match="accord serve token revoke ci"):
        file.create("ci")


def test_revoking_an_unknown_token_names_the_known_ones(file: TokenFile) -> None:
    file.create("ci")
    with pytest.raises(ConfigError, match=r"no token named 'cd' \(tokens: ci\)"):
        file.revoke("cd")


def test_a_ticket_is_spent_after_one_use_or_in_time(file: TokenFile) -> None:
    now = 0.0
    tickets = Tickets(lifetime=30, clock=lambda: now)
    identity = Tokens(file, local="accord_local").identify("accord_local")
    assert identity is not None
    once, late, elsewhere = (tickets.issue(identity, "https://page.example") for _ in range(3))
    assert tickets.redeem(once, "https://page.example") == identity
    assert tickets.redeem(once, "https://page.example") is None
    assert tickets.redeem(elsewhere, "https://other.example") is None
    assert tickets.redeem(elsewhere, "https://page.example") is None
    now = 30.0
    assert tickets.redeem(late, "https://page.example") is None


def test_unused_tickets_do_not_pile_up(file: TokenFile) -> None:
    tickets = Tickets()
    identity = Tokens(file, local="accord_local").identify("accord_local")
    assert identity is not None
    first = tickets.issue(identity, "https://page.example")
    for _ in range(1000):
        tickets.issue(identity, "https://page.example")
    assert tickets.redeem(first, "https://page.example") is None


def test_the_file_is_plain_json(file: TokenFile) -> None:
    file.create("ci")
    assert [sorted(token) for token in json.loads(file.path.read_text())["tokens"]] == [
        ["created", "hash", "name", "role"]
    ]
