"""Modes, options and commands, and the information that each side has about the session and the other side."""

from __future__ import annotations

import json

from msgspec import to_builtins

from accord.agent.agent import command
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.model.session import Choice, Command, Mode, Option
from accord.showcase.topic import Topic

SPECIES: dict[str, tuple[str, ...]] = {
    "birds": ("wren", "heron", "owl"),
    "trees": ("oak", "lime", "yew", "alder"),
}
"""The species to choose from, by family."""


def list_species(family: str) -> list[Choice]:
    return [Choice(value=name, name=name.capitalize(), description=f"One of the {family}") for name in SPECIES[family]]


MODES = [
    Mode(id="ask", name="Ask", description="Asks before it changes anything"),
    Mode(id="architect", name="Architect", description="Plans and changes nothing"),
    Mode(id="code", name="Code", description="Changes files without asking"),
]
OPTIONS = [
    Option(
        id="model",
        name="Model",
        category="model",
        description="Choices in groups; none is a real model",
        value="small-1",
        choices=[
            Choice(value="small-1", name="Small 1", group="small", group_name="Small models"),
            Choice(value="small-2", name="Small 2", group="small", group_name="Small models"),
            Choice(value="large-1", name="Large 1", group="large", group_name="Large models", description="Slow"),
        ],
    ),
    Option(
        id="effort",
        name="Effort",
        category="thought_level",
        value="medium",
        choices=[Choice(value=level, name=level.capitalize()) for level in ("low", "medium", "high")],
    ),
    Option(
        id="family",
        name="Family",
        description="Changes the choices of Species",
        value="birds",
        choices=[Choice(value=family, name=family.capitalize()) for family in SPECIES],
    ),
    Option(
        id="species", name="Species", description="Depends on the family", value="wren", choices=list_species("birds")
    ),
    Option(id="verbose", name="Verbose", description="On or off", value=False),
]


class Settings(Topic):
    """Modes, options, commands, and the session itself."""

    title = "Settings"

    def set_option(self, session: Session, option: Option, value: str | bool) -> None:
        """Change the species along with the family; the response to the client contains both."""
        species = session.option("species")
        if option.id == "family" and species is not None and value != option.value:
            species.choices = list_species(str(value))
            species.value = species.choices[0].value

    @command("modes", "Changes the mode after asking for permission")
    async def show_modes(self, turn: Turn) -> None:
        ids = [mode.id for mode in MODES]
        before = turn.session.mode or ids[0]
        after = ids[(ids.index(before) + 1) % len(ids)]
        async with turn.tool(f"Switch from {before} to {after}", kind="switch_mode") as tool:
            await tool.show("Ready to continue in another mode.")
            if await tool.permit(always=True):
                await turn.set_mode(after)
            else:
                await tool.fail("The user declined.")
        await turn.say(f"The mode is {turn.session.mode}. Modes: {', '.join(ids)}.")

    @command("options", "Changes options: a choice, one on/off, and a list that depends on another option")
    async def show_options(self, turn: Turn) -> None:
        session = turn.session
        verbose, family = session.option("verbose"), session.option("family")
        assert verbose is not None
        assert family is not None
        await session.change_option("verbose", not verbose.value)
        await self.pause(3)
        other = "trees" if family.value == "birds" else "birds"
        self.set_option(session, family, other)
        await session.change_option("family", other)
        await self.pause(3)
        await session.change_option("effort", "high")
        values = {option.id: option.value for option in session.options}
        await turn.say(f"```json\n{json.dumps(values, indent=2)}\n```")

    @command("commands", "Adds a slash command, or removes it again")
    async def show_commands(self, turn: Turn) -> None:
        exists = turn.session.data.get("extra", False)
        turn.session.data["extra"] = not exists
        extra = [] if exists else [Command(name="extra", description="A command that was just added", hint="anything")]
        await turn.session.set_commands(extra)
        await turn.say("Removed the command /extra." if exists else "Added the command /extra.")

    @command("session", "Shows the agent's information about the session and the client")
    async def show_session(self, turn: Turn) -> None:
        session = turn.session
        known = {
            "id": session.id,
            "title": session.title,
            "roots": session.roots,
            # Environments and headers hold secrets, so only names and transports are shown.
            "mcpServers": [{"name": server.name, "transport": server.transport} for server in session.mcp_servers],
            "systemPrompt": session.system_prompt.mode if session.system_prompt else None,
            "client": to_builtins(turn.client.offers),
            "meta": session.meta,
        }
        await turn.say(f"```json\n{json.dumps(known, ensure_ascii=False, indent=2, default=str)}\n```")
