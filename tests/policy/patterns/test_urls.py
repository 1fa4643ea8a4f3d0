"""Patterns for URLs."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.properties import steady

from accord.errors import RuleError
from accord.policy.patterns import urls


@pytest.mark.parametrize(
    "pattern, url, allowed, denied",
    [
        ("example.com", "https://example.com/a/b?c", True, True),
        ("example.com", "http://EXAMPLE.com", True, True),
        ("example.com", "https://example.com./", True, True),
        ("example.com", "ftp://example.com/", False, True),
        ("example.com", "https://example.com:8443/", False, True),
        ("example.com:8443", "https://example.com:8443/", True, True),
        ("example.com", "https://sub.example.com/", False, True),
        ("example.com", "https://notexample.com/", False, False),
        ("example.com", "https://example.com.evil.org/", False, False),
        ("example.com", "https://example.com@evil.org/", False, False),
        ("example.com", "https://evil.org/example.com", False, False),
        ("example.com", "https://user:pw@example.com/", False, True),
        ("example.com", "https://exаmple.com/", False, False),
        ("*.example.com", "https://a.b.example.com/", True, True),
        ("*.example.com", "https://example.com/", False, False),
        ("*", "https://anything.org/x", True, True),
        ("https://example.com/docs/**", "https://example.com/docs/a/b", True, True),
        ("https://example.com/docs/**", "http://example.com/docs/a", False, True),
        ("https://example.com/docs/**", "https://example.com/docs/../admin", False, True),
        ("https://example.com/docs/**", "https://example.com/docs/%2e%2e/admin", False, True),
        ("https://example.com/docs/**", "https://example.com/docs\\..\\admin", False, True),
        ("https://example.com/docs/**", "https://example.com/other", False, False),
        ("https://example.com/", "https://example.com", True, True),
        ("https://example.com/", "https://example.com/x", False, True),
        ("[::1]", "http://[::1]/", True, True),
        ("example.com", "no address", False, True),
        ("example.com", "https://[broken", False, True),
    ],
)
def test_a_url_is_allowed_only_if_it_matches_exactly_and_denied_if_it_might(
    pattern: str, url: str, allowed: bool, denied: bool
) -> None:
    assert (urls.covers(pattern, url), urls.catches(pattern, url)) == (allowed, denied)


@pytest.mark.parametrize("pattern", ["", "http://", "a b", "a*.com", "*.*.com", "x:99999", "https://a/../b", "://a"])
def test_an_invalid_pattern_is_refused_with_an_explanation(pattern: str) -> None:
    with pytest.raises(RuleError, match="pattern"):
        urls.read(pattern)


def test_the_pattern_for_one_address_allows_no_other() -> None:
    pattern = urls.exact_pattern("https://Example.com:443/a*b?q=1")
    assert pattern == "https://example.com/a\\*b\\?q=1"
    assert urls.covers(pattern, "https://example.com/a*b?q=1")
    assert not urls.covers(pattern, "https://example.com/axb?q=1")
    assert not urls.covers(pattern, "https://example.com/a*b?q=2")
    assert urls.exact_pattern("https://me@example.com/") is None
    assert urls.exact_pattern("nonsense") is None


@steady
@given(st.text(max_size=30), st.text(max_size=30))
def test_no_text_raises_anything_else(pattern: str, url: str) -> None:
    urls.exact_pattern("https://" + url)
    with contextlib.suppress(RuleError):
        urls.covers(pattern, url)
        urls.catches(pattern, "https://a.b/" + url)
