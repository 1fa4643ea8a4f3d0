"""The settings screen of the terminal client."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from accord.tui.preferences import CHOICES, SWITCHES
from accord.tui.screens.picker import Picker, Row
from accord.tui.theme import THEMES

if TYPE_CHECKING:
    from accord.tui.preferences import Preferences

AS_TERMINAL = "same as the terminal"


def settings_screen(preferences: Preferences, theme: str) -> Picker:
    """Return the screen that lists all settings with their current values."""
    now = preferences.theme or f"{AS_TERMINAL} ({theme})"
    rows = [Row("theme", f"Theme: {now}", "light, dark and others")]
    rows += [
        Row(name, f"{label}: {'on' if preferences.get(name) else 'off'}", about)
        for name, (label, about) in SWITCHES.items()
    ]
    rows += [Row(name, f"{label}: {preferences.get(name)}", about) for name, (label, about, _) in CHOICES.items()]
    return Picker("Settings", rows)


def themes_screen(names: list[str], now: str, show: Callable[[str], None]) -> Picker:
    """Return the screen that lists all themes, ours first; `show` previews the one at the cursor."""
    ours = [theme.name for theme in THEMES]
    rows = [Row(AS_TERMINAL, AS_TERMINAL, "dark or light")]
    rows += [Row(name, name) for name in (*ours, *sorted({*names} - {*ours}))]
    return Picker("Theme", rows, chosen=now or AS_TERMINAL, on_highlight=show)


def choices_screen(name: str, now: str) -> Picker:
    """Return the screen with the values of a setting that isn't just on or off."""
    label, about, choices = CHOICES[name]
    return Picker(label, [Row(value, value, meaning) for value, meaning in choices.items()], about=about, chosen=now)
