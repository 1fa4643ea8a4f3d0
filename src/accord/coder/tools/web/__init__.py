"""Helpers for `fetch_url`: which addresses it may connect to, and HTML as text."""
