"""What the user may set, what the session may be told to do, and what both sides know of each other."""

from __future__ import annotations

import json

from msgspec import to_builtins

from accord.agent.agent import command
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.model.session import Choice, Command, Mode, Option
from accord.showcase.stage import Stage

SPECIES = {
    "birds": ("wren", "heron", "owl"),
    "trees": ("oak", "lime", "yew", "alder"),
}
"""Which species can be chosen depends on the family."""


def species_of(family: str) -> list[Choice]:
    return [Choice(value=name, name=name.capitalize(), description=f"One of the {family}") for name in SPECIES[family]]


class Settings(Stage):
    """Modes, options, commands, and the session itself."""

    topic = "Settings"

    modes = [
        Mode(id="ask", name="Ask", description="Asks before it changes anything"),
        Mode(id="architect", name="Architect", description="Plans and changes nothing"),
        Mode(id="code", name="Code", description="Changes files without asking"),
    ]
    options = [
        Option(
            id="model",
            name="Model",
            category="model",
            description="Choices in groups; none of them is a model",
            value="small-1",
            choices=[
                Choice(value="small-1", name="Small 1", group="small", group_name="Small ones"),
                Choice(value="small-2", name="Small 2", group="small", group_name="Small ones"),
                Choice(value="large-1", name="Large 1", group="large", group_name="Large ones", description="Slow"),
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
            description="Changes which species there are",
            value="birds",
            choices=[Choice(value=family, name=family.capitalize()) for family in SPECIES],
        ),
        Option(
            id="species", name="Species", description="Depends on the family", value="wren", choices=species_of("birds")
        ),
        Option(id="verbose", name="Verbose", description="On or off", value=False),
    ]

    async def set_option(self, session: Session, option: Option, value: str | bool) -> None:
        """A new family brings its own species; the answer to the client carries both changes."""
        species = session.option("species")
        if option.id == "family" and species is not None and value != option.value:
            species.choices = species_of(str(value))
            species.value = species.choices[0].value

    @command("modes", "Changes the mode, by a permission to switch it")
    async def show_modes(self, turn: Turn) -> None:
        ids = [mode.id for mode in self.modes]
        before = turn.session.mode or ids[0]
        after = ids[(ids.index(before) + 1) % len(ids)]
        async with turn.tool(f"Switch from {before} to {after}", kind="switch_mode") as tool:
            await tool.show("Ready to go on in another mode.")
            if await tool.permit(always=True):
                await turn.set_mode(after)
            else:
                await tool.fail("The user said no.")
        await turn.say(f"The mode is {turn.session.mode}; there are {', '.join(ids)}.")

    @command("options", "Changes options: a choice, one on/off, and a list that depends on another option")
    async def show_options(self, turn: Turn) -> None:
        session = turn.session
        verbose, family = session.option("verbose"), session.option("family")
        assert verbose is not None
        assert family is not None
        await session.change_option("verbose", not verbose.value)
        await self.pause(3)
        other = "trees" if family.value == "birds" else "birds"
        await self.set_option(session, family, other)
        await session.change_option("family", other)
        await self.pause(3)
        await session.change_option("effort", "high")
        values = {option.id: option.value for option in session.options}
        await turn.say(f"```json\n{json.dumps(values, indent=2)}\n```")

    @command("commands", "Adds a slash command, or takes it away again")
    async def show_commands(self, turn: Turn) -> None:
        there = turn.session.data.get("extra", False)
        turn.session.data["extra"] = not there
        extra = [] if there else [Command(name="extra", description="Was not there before", hint="anything")]
        await turn.session.set_commands(extra)
        await turn.say("The command /extra is gone." if there else "There is a command /extra now.")

    @command("session", "What this agent knows of the session and of the client")
    async def show_session(self, turn: Turn) -> None:
        session = turn.session
        known = {
            "id": session.id,
            "title": session.title,
            "roots": session.roots,
            # Environments and headers hold secrets: only what a server is called and how it is reached is told.
            "mcpServers": [{"name": server.name, "transport": server.transport} for server in session.mcp_servers],
            "systemPrompt": session.system_prompt.mode if session.system_prompt else None,
            "client": to_builtins(turn.client),
            "meta": session.meta,
        }
        await turn.say(f"```json\n{json.dumps(known, ensure_ascii=False, indent=2, default=str)}\n```")
