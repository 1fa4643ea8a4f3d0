"""What the user set in this client, kept from one time to the next."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Union

import msgspec

from accord.config.folders import data_folder


class Preferences(msgspec.Struct, kw_only=True):
    """Settings of the terminal client. A file that cannot be read counts as none."""

    theme: str = ""
    """The name of a theme; none is the light or the dark one that the terminal seems to have."""
    screen_reader: bool = False
    """Whether the screen is read to the user: one column, nothing that moves, no lines around things."""
    side_panel: bool = True
    side_by_side: bool = True
    follow: bool = False
    """Whether the file where the agent is at work is shown."""
    images: str = "auto"
    """How pictures are shown: as well as the terminal can, in its graphics, in blocks of colour, or not."""
    notify: Union[bool, Literal["off", "bell", "notification"]] = "notification"
    """How to call a user who looks elsewhere when a turn ends or a question waits. (Once it was yes or no.)"""


def preferences_file() -> Path:
    return data_folder() / "chat" / "settings.json"


def load() -> Preferences:
    try:
        kept = msgspec.json.decode(preferences_file().read_bytes(), type=Preferences)
    except (OSError, msgspec.MsgspecError):
        return Preferences()
    if isinstance(kept.notify, bool):
        kept.notify = "notification" if kept.notify else "off"
    return kept


def save(preferences: Preferences) -> OSError | None:
    """Writes them in one step. Where that cannot be done they last until the end; gives why."""
    from accord.tui.prompt.history import replace

    return replace(preferences_file(), msgspec.json.format(msgspec.json.encode(preferences)).decode())
