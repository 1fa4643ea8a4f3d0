"""The settings of this client: chosen in a list, and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.tui.screens.picker import Picker, Row

if TYPE_CHECKING:
    from accord.tui.preferences import Preferences

AS_TERMINAL = "as the terminal"
SWITCHES = {
    "screen_reader": ("Screen reader", "one column, nothing moves, questions as text"),
    "side_panel": ("Side panel", "the plan, the context and the options"),
    "follow": ("Follow the agent", "the file where it is at work, beside the conversation or below it"),
    "side_by_side": ("Changes side by side", "where there is room for it"),
}
CHOICES = {
    "images": (
        "Pictures",
        "how they are shown",
        {
            "auto": "as well as the terminal can",
            "graphics": "in the graphics of the terminal",
            "blocks": "in blocks of colour",
            "off": "by their names alone",
        },
    ),
    "notify": (
        "When you look elsewhere",
        "when a turn ends or a question waits",
        {
            "off": "nothing happens",
            "bell": "the bell of the terminal rings",
            "notification": "the bell rings, and the terminal shows a notification if it can (OSC 9)",
        },
    ),
}


def settings_screen(preferences: Preferences, theme: str) -> Picker:
    """What can be set, and how it is set now."""
    now = preferences.theme or f"{AS_TERMINAL} ({theme})"
    rows = [Row("theme", f"Theme: {now}", "light, dark and others")]
    rows += [
        Row(name, f"{label}: {'on' if getattr(preferences, name) else 'off'}", about)
        for name, (label, about) in SWITCHES.items()
    ]
    rows += [Row(name, f"{label}: {getattr(preferences, name)}", about) for name, (label, about, _) in CHOICES.items()]
    return Picker("Settings", rows)


def themes_screen(names: list[str], now: str) -> Picker:
    rows = [Row(AS_TERMINAL, AS_TERMINAL, "dark or light"), *(Row(name, name) for name in sorted(names))]
    return Picker("Theme", rows, chosen=now or AS_TERMINAL)


def choices_screen(name: str, now: str) -> Picker:
    """What a setting that is neither on nor off can be."""
    label, about, choices = CHOICES[name]
    return Picker(label, [Row(value, value, meaning) for value, meaning in choices.items()], about=about, chosen=now)
