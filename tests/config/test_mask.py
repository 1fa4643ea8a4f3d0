"""Masking: nothing that is named like a secret or looks like one is shown, and sentences stay readable."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy.steady import steady

from accord.config.mask import MASK, is_secret_name, masked, masked_env, without


@pytest.mark.parametrize(
    "text, shown",
    [
        ("PASSWORD=secret make", f"PASSWORD={MASK} make"),
        ("x --password secret", f"x --password {MASK}"),
        ("x --token=abc y", f"x --token={MASK} y"),
        ("x --api-key 'a b c' y", f"x --api-key {MASK} y"),
        ('{"apiKey": "abc def"}', f'{{"apiKey": {MASK}}}'),
        ("X-Api-Key: abc123456", f"X-Api-Key: {MASK}"),
        ('password: "open sesame"', f"password: {MASK}"),
        ("https://user:pass@host/x?token=abc", f"https://{MASK}@host/x?token={MASK}"),
        ("https://ghtoken@host/x", f"https://{MASK}@host/x"),
        ("sk-abcdefghijklmnop", MASK),
        ("Bearer abcdefgh12345", f"Bearer {MASK}"),
        ("Authorization: Bearer abcdefghijk", f"Authorization: Bearer {MASK}"),
        ("-H 'Authorization: abc'", f"-H 'Authorization: {MASK}'"),
    ],
)
def test_what_is_named_like_a_secret_or_looks_like_one_is_masked(text: str, shown: str) -> None:
    assert without(text) == shown
    assert without(shown) == shown, "once is enough"


@pytest.mark.parametrize(
    "text",
    [
        "make test",
        "git commit -m 'add tokenizer'",
        "config.toml: line 3: agents.a.env.API_KEY: found a whole number; expected a text",
        "session/new: Authentication required (code -32000)",
        "the author: somebody1",
        "expected KEY:VALUE, with one of command",
        "ssh://git@example.com/x",
        "denied by your configuration: deny path:**/secrets (/p/secrets)",
        "sort --key=2 names",
    ],
)
def test_what_is_no_secret_is_shown(text: str) -> None:
    assert without(text) == text


def test_the_values_of_secret_variables_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "abcdef123456")
    assert masked("key abcdef123456 here") == f"key {MASK} here"
    assert masked("see ghijkl789", {"THEIR_TOKEN": "ghijkl789"}) == f"see {MASK}"
    assert masked_env({"API_TOKEN": "x", "PATH": "/bin"}) == {"API_TOKEN": MASK, "PATH": "/bin"}


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "GH_TOKEN", "DB_PASSWORD", "AUTHORIZATION", "session_id"])
def test_a_secret_is_known_by_its_name(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["PATH", "KEYBOARD", "AUTHOR", "SSH_AUTH_SOCK", "TOKEN_FILE", "TOKENIZERS"])
def test_a_name_that_only_sounds_like_it_is_none(name: str) -> None:
    assert not is_secret_name(name)


@steady
@given(st.text(max_size=50))
def test_masking_raises_nothing(text: str) -> None:
    assert len(text) < 4 or text not in without(text, [text]) or text in MASK


@pytest.mark.parametrize(
    "piece", ["a", "key", "key=", "a-", "token:", "token: ", "://", "--key ", "authorization: ", "key: '"]
)
def test_the_cost_grows_with_the_length_alone(piece: str) -> None:
    def cost(times: int) -> float:
        text = piece * times
        began = time.process_time()
        without(text)
        return time.process_time() - began

    small = min(cost(1_000) for _ in range(3))
    assert min(cost(8_000) for _ in range(3)) < 8 * 4 * max(small, 0.001)
