"""The user's settings for the terminal client, saved between runs."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Union

import msgspec

from accord.config.directories import data_directory


class Preferences(msgspec.Struct, kw_only=True):
    """Settings of the terminal client. An unreadable file means defaults."""

    theme: str = ""
    """The name of a theme; empty follows the terminal's background."""
    screen_reader: bool = False
    """Whether to adapt to a screen reader: one column, nothing that moves, no borders."""
    side_panel: bool = True
    side_by_side: bool = True
    follow: bool = False
    """Whether to show the file that the agent works on."""
    vim_keys: bool = False
    images: str = "auto"
    """How to show images: auto, terminal graphics, colored blocks, or not at all."""
    notify: Union[bool, Literal["off", "bell", "notification"]] = "notification"
    """How to notify a user who looks elsewhere. (Older files have a boolean.)"""

    def get(self, name: str) -> bool | str:
        """Return the value of a setting that the user picked from a list."""
        value: bool | str = getattr(self, name)
        return value

    def set(self, name: str, value: bool | str) -> None:
        setattr(self, name, value)


SWITCHES = {
    "screen_reader": ("Screen reader", "one column, no animation, questions as text"),
    "side_panel": ("Side panel", "the plan, changed files, servers and context"),
    "follow": ("Follow the agent", "show the file it works on, beside or below the transcript"),
    "side_by_side": ("Changes side by side", "if there is room"),
    "vim_keys": ("Vim keys", "normal and insert mode in the prompt"),
}
"""Label and description of each setting that is on or off. The settings screen lists them."""
CHOICES = {
    "images": (
        "Images",
        "how images are shown",
        {
            "auto": "best the terminal supports",
            "graphics": "terminal graphics",
            "blocks": "colored blocks",
            "off": "names only",
        },
    ),
    "notify": (
        "When you're away",
        "when a turn ends or a question is waiting",
        {
            "off": "do nothing",
            "bell": "ring the terminal bell",
            "notification": "ring the bell and show a notification if supported (OSC 9)",
        },
    ),
}
"""Label, description and values of each other setting."""


def preferences_file() -> Path:
    return data_directory() / "chat" / "settings.json"


def load() -> Preferences:
    try:
        loaded = msgspec.json.decode(preferences_file().read_bytes(), type=Preferences)
    except (OSError, msgspec.MsgspecError):
        return Preferences()
    if isinstance(loaded.notify, bool):
        loaded.notify = "notification" if loaded.notify else "off"
    return loaded


def save(preferences: Preferences) -> OSError | None:
    """Save them atomically. Return the error if that fails."""
    from accord.tui.prompt.history import replace

    return replace(preferences_file(), msgspec.json.format(msgspec.json.encode(preferences)).decode())
