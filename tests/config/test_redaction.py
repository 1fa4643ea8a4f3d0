"""Redaction: secrets are recognized by name or shape and not shown, and sentences stay readable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.properties import steady

from accord.config.redaction import (
    MASK,
    count_held,
    is_secret_name,
    redact_data,
    redact_env,
    redact_known,
    redact_text,
    redact_values,
    secret_values,
)
from accord.model.statement import TerminalData, ToolPatch


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
        ("{'api_key': 'abc def'}", f"{{'api_key': {MASK}}}"),
        ("tokens=12345678901 access_tokens: 1234abc", f"tokens={MASK} access_tokens: {MASK}"),
        ('"token":1234567, "a"', f'"token":{MASK}, "a"'),
        ("'secret' = open", f"'secret' = {MASK}"),
    ],
)
def test_text_named_like_a_secret_or_shaped_like_one_is_redacted(text: str, shown: str) -> None:
    assert redact_values(text) == shown
    assert redact_values(shown) == shown, "once is enough"


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
        "session/prompt failed: KeyError: 'username'",
        "tokenize.TokenError: 'EOF in multi-line statement'",
        'AuthenticationError: "bad"',
        "SecretServiceException: 'locked'",
        "log in first, with 'API Key': run this command once in a terminal",
        "log in first, with 'token': run this command once in a terminal",
        "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
        '{"max_tokens": 100000, "input_tokens":12345}, total_tokens=112345)',
        'Unexpected token: "<"',
        "Unexpected token: '}'",
        "pass it via `AnthropicProvider(api_key=...)` to use the provider",
    ],
)
def test_text_that_isnt_secret_is_shown(text: str) -> None:
    assert redact_values(text) == text


def test_the_values_of_secret_variables_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "abcdef123456")
    assert redact_text("key abcdef123456 here") == f"key {MASK} here"
    assert redact_text("see ghijkl789", {"THEIR_TOKEN": "ghijkl789"}) == f"see {MASK}"
    assert redact_env({"API_TOKEN": "x", "PATH": "/bin"}) == {"API_TOKEN": MASK, "PATH": "/bin"}


@pytest.mark.parametrize("name", ["MAX_THINKING_TOKENS", "max_tokens", "maxOutputTokens"])
def test_a_count_of_tokens_is_not_redacted(name: str) -> None:
    env = {name: "100000"}
    assert secret_values(env) == set()
    assert redact_text("limited to 100000", env) == "limited to 100000"
    assert redact_env(env) == redact_data(env) == env


@pytest.mark.parametrize(
    "name, value", [("MY_TOKEN", "100000"), ("MY_TOKENS", "1234567890123456"), ("MY_TOKENS", "abc123")]
)
def test_other_values_named_like_tokens_are_secret(name: str, value: str) -> None:
    env = {name: value}
    assert secret_values(env) == {value}
    assert redact_env(env) == redact_data(env) == {name: MASK}


def test_known_variables_are_secret_whatever_they_are_called() -> None:
    env = {"MY_LLM": "abcdef123456", "OTHER": "ghijkl789012"}
    assert secret_values(env) == set()
    assert secret_values(env, known=["MY_LLM"]) == {"abcdef123456"}


def test_values_are_redacted_at_any_depth_and_nothing_else_is() -> None:
    key = "abcdef-123456"
    call = ToolPatch(id="1", title=f"echo {key}", raw_input={"a": [key, 1, None]}, raw_output="password: secret123")
    redacted = redact_known(call, {key})
    assert redacted == ToolPatch(
        id="1", title=f"echo {MASK}", raw_input={"a": [MASK, 1, None]}, raw_output="password: secret123"
    )
    assert redact_known(TerminalData(id="1", data=key.encode()), {key}) == TerminalData(id="1", data=MASK.encode())
    assert redact_known(call, {"nowhere-to-be-found"}) is call


@pytest.mark.parametrize(
    "redact", [redact_data, lambda value: redact_known(value, {"abcdef-123456"})], ids=["data", "known"]
)
def test_data_that_is_nested_too_deeply_is_redacted_as_a_whole(redact: Callable[[Any], Any]) -> None:
    data: Any = "abcdef-123456"
    for _ in range(100_000):
        data = [data]
    found = redact(data)
    while isinstance(found, list):
        (found,) = found
    assert found == MASK


@pytest.mark.parametrize("value", ["ollama", "none", "", "not-needed"])
def test_values_too_short_for_a_key_are_not_redacted(value: str) -> None:
    assert redact_known("ollama: none is not-needed", {value}) == "ollama: none is not-needed"


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "GH_TOKEN", "DB_PASSWORD", "AUTHORIZATION", "session_id"])
def test_a_secret_is_known_by_its_name(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["PATH", "KEYBOARD", "AUTHOR", "SSH_AUTH_SOCK", "TOKEN_FILE", "TOKENIZERS"])
def test_a_name_that_only_sounds_secret_isnt(name: str) -> None:
    assert not is_secret_name(name)


@steady
@given(st.text(max_size=50))
def test_redaction_raises_nothing(text: str) -> None:
    assert len(text) < 4 or text not in redact_values(text, [text]) or text in MASK


@pytest.mark.parametrize(
    "piece", ["a", "key", "key=", "a-", "token:", "token: ", "://", "--key ", "authorization: ", "key: '"]
)
def test_redaction_takes_time_in_proportion_to_the_text(piece: str) -> None:
    """Under a second. In proportion to the square it would not end before the test's timeout."""
    redact_values(piece * 200_000)


@pytest.mark.parametrize(
    "text, held",
    [
        ("", 0),
        ("nothing of it", 0),
        ("it is a", 1),
        ("it is abcabcabc", 9),
        ("it is abcabcabcd-123", 0),  # a different text
        ("it is abcabcabc-12", 12),
        ("abcabcabc-123456", 0),  # complete, and so redacted already
        ("ab nobody: sho", 0),  # too short for a key
    ],
)
def test_the_end_of_a_text_that_could_be_the_start_of_a_secret_is_found(text: str, held: int) -> None:
    assert count_held(text, {"abcabcabc-123456", "short"}) == held
    assert count_held(text.encode(), {b"abcabcabc-123456", b"short"}) == held


COLORED = "abcabcabc-123456"


@pytest.mark.parametrize("at", range(1, len(COLORED)))
def test_a_secret_that_escape_sequences_interrupt_is_redacted(at: int) -> None:
    text = f"\x1b[1mis \x1b[31m{COLORED[:at]}\x1b[0m\x1b[K{COLORED[at:]}\x1b[2m."
    clean = f"\x1b[1mis \x1b[31m{MASK}\x1b[0m\x1b[K\x1b[2m."
    assert redact_known(text, {COLORED}) == clean
    assert redact_known(text.encode(), {COLORED}) == clean.encode()


@pytest.mark.parametrize(
    "text, held",
    [
        ("\x1b[31mit is\x1b[0m", 0),
        ("\x1b[31mit is\x1b[0m abc", 3),
        ("\x1b[31mit is\x1b[0m abc\x1b[0m", 7),
        ("it is abc\x1b[0mabc\x1b[3", 13),
        ("it is \x1b[31mabc\x1b[0mabc", 10),
        ("it is abc\x1b", 4),
    ],
)
def test_escape_sequences_in_the_start_of_a_secret_are_held_too(text: str, held: int) -> None:
    assert count_held(text, {COLORED}) == held
    assert count_held(text.encode(), {COLORED.encode()}) == held
