"""A theme for tests that render without an app."""

from __future__ import annotations

COLORS = {
    "background": "#101010",
    "foreground": "#e0e0e0",
    "primary": "#0178d4",
    "accent": "#ffa62b",
    "success": "#4ebf71",
    "warning": "#ffa62b",
    "error": "#ba3c5b",
}
