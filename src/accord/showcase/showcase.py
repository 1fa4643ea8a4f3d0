"""The agent itself: all topics together, and what it says to everything else."""

from __future__ import annotations

from accord.agent.agent import command
from accord.agent.turn import Turn
from accord.model.content import TextContent
from accord.showcase.asking import Asking
from accord.showcase.beyond import Beyond
from accord.showcase.endings import Endings
from accord.showcase.machine import Machine
from accord.showcase.media import Media
from accord.showcase.progress import Progress
from accord.showcase.saying import Saying
from accord.showcase.settings import Settings
from accord.showcase.table import markdown
from accord.showcase.tools import Tools
from accord.showcase.version_2 import Version2


# The commands of the last base are listed first.
class Showcase(Version2, Beyond, Endings, Settings, Machine, Asking, Tools, Progress, Media, Saying):
    """Shows every feature of the protocol, one slash command each."""

    name = "accord-showcase"
    title = "Accord showcase"
    version = "1.0"
    unstable = True
    content = ("image", "audio", "resource")
    mcp = ("stdio", "http", "sse")
    additional_directories = True
    system_prompts = ("append", "override")

    def __init__(self, *, pace: float = 0.0) -> None:
        super().__init__(pace=pace)
        self.store = self.kept  # in memory: sessions can be listed, loaded, resumed, forked and deleted

    @command("help", "Lists what there is")
    async def show_help(self, turn: Turn) -> None:
        await turn.say(markdown())

    async def prompt(self, turn: Turn) -> None:
        """Says what came in, then what could be asked for."""
        others = [type(piece).__name__ for piece in turn.content if not isinstance(piece, TextContent)]
        if turn.session.data.get("extra") and turn.text.lstrip().startswith("/extra"):
            await turn.say("You found /extra.")
            return
        if others:
            await turn.say(f"With your text came: {', '.join(others)}.\n\n")
        await turn.say("There is no model here, only features to look at. Send one of these:\n\n")
        await turn.say(markdown())
