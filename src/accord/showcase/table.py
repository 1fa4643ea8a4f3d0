"""The table of everything that can be shown: it makes `/help`, and the list in the documentation."""

from __future__ import annotations

from accord.model.session import Command
from accord.showcase.asking import Asking
from accord.showcase.beyond import Beyond
from accord.showcase.endings import Endings
from accord.showcase.machine import Machine
from accord.showcase.media import Media
from accord.showcase.progress import Progress
from accord.showcase.saying import Saying
from accord.showcase.settings import Settings
from accord.showcase.stage import Stage
from accord.showcase.tools import Tools
from accord.showcase.version_2 import Version2

TOPICS: tuple[type[Stage], ...] = (
    Saying,
    Media,
    Progress,
    Tools,
    Asking,
    Machine,
    Settings,
    Endings,
    Beyond,
    Version2,
)


def table() -> dict[str, list[Command]]:
    """The commands, by topic."""
    return {topic.topic: [told for told, _ in topic().commands_written.values()] for topic in TOPICS}


def markdown() -> str:
    """The table as people read it."""
    parts = []
    for topic, commands in table().items():
        rows = [f"| `/{told.name}{f' [{told.hint}]' if told.hint else ''}` | {told.description} |" for told in commands]
        parts.append("\n".join([f"| {topic} | |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"
