"""accord run: one prompt, or a script of them, to any agent, without a user interface.

The agent's text goes to standard output as it streams, what it does to standard error when a person is looking there.
The exit status says how the last turn ended:

    0 end_turn    1 it failed    2 wrong usage    3 refusal    4 max_tokens    5 max_turn_requests
    124 --timeout    130 cancelled, or Ctrl-C    141 nobody read the output to its end    143 SIGTERM
"""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from accord.cli.seconds import Seconds
from accord.cli.streams import check_text, read_text

if TYPE_CHECKING:
    from accord.cli.begin import Begun


class Wanted(NamedTuple):
    """What the command line asks for."""

    prompts: list[str]
    agent: str | None
    cwd: Path
    as_json: bool
    images: Sequence[Path]
    session_id: str | None
    options: list[tuple[str, str]]
    rules: list[Any]
    timeout: float | None
    mcp_config: Path | None
    versions: frozenset[int]
    quiet: bool


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("prompt", nargs=-1)
@click.option(
    "-a", "--agent", help="A configured name, a registry id or a command line; the default agent unless given."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per event.")
@click.option("--output-schema", is_flag=True, help="Print the JSON schema of what --json prints, and end.")
@click.option("-f", "--script", type=click.File("rb"), help="Prompts from a file, lines of --- between turns.")
@click.option(
    "--image", "images", multiple=True, type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Show it."
)
@click.option("--session", "session_id", metavar="ID", help="Continue this session.")
@click.option("--mode", help="Set the mode first.")
@click.option("--model", help="Set the model first.")
@click.option("--set", "options", multiple=True, metavar="OPTION=VALUE", help="Set any option first.")
@click.option("--allow", multiple=True, metavar="RULE", help="Allow this, such as 'command:git status'; or all.")
@click.option("--ask", multiple=True, metavar="RULE", help="Ask about this, such as 'write:src/**'.")
@click.option("--deny", multiple=True, metavar="RULE", help="Deny this, such as 'path:**/.env'.")
@click.option("--timeout", type=Seconds(), metavar="SECONDS", help="Give up after so long.")
@click.option(
    "--cwd", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path("."), help="The project."
)
@click.option(
    "--mcp-config", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A JSON file with mcpServers."
)
@click.option("--v2", is_flag=True, help="Offer protocol version 2 as well.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
@click.pass_context
def run(ctx: click.Context, /, **given: Any) -> int:
    """Send PROMPT to an agent and print its answer.

    Without PROMPT it is read from standard input; a word - in it stands for what is there. Files named with @path are
    attached. The exit status is 0 when the agent came to its end, 3 when it refused, 4 or 5 when it ran out of tokens
    or requests, 124 after --timeout, 130 when cancelled, 1 when anything failed, 2 for wrong usage."""
    if given["output_schema"]:
        from accord.cli.events import schema

        click.echo(schema())
        return 0
    gc.disable()  # until the first prompt: there is nothing to collect yet, and much to look through
    wanted = _wanted(given)
    begun = _begin(wanted)
    # Only now, while the agent starts as well, comes what is needed to talk to it.
    try:
        import asyncio

        from accord.cli.headless import Headless

        headless = Headless(wanted, begun)
    except BaseException:
        begun.started.abandon()
        raise
    try:
        return asyncio.run(headless.run())
    except click.UsageError as error:
        error.ctx = error.ctx or ctx
        raise


def _begin(wanted: Wanted) -> Begun:
    from accord.cli.begin import begin
    from accord.errors import AccordError

    try:
        return begin(wanted.agent, wanted.cwd)
    except AccordError as error:
        if wanted.as_json:
            from accord.cli import events
            from accord.cli.showing import Json
            from accord.config.mask import masked

            Json().line(events.Error(message=masked(str(error)), stage=getattr(error, "stage", None)))
        raise


def _wanted(given: dict[str, Any]) -> Wanted:
    """Reads and checks all that can be checked before anything is started."""
    prompts = [check_text(text, "the prompt") for text in _prompts(given)]
    if not prompts:
        raise click.UsageError("there is no prompt: give one, or pipe one in")
    cwd = given["cwd"].resolve()
    check_text(str(cwd), f"the name of the folder {cwd}")
    for name in ("session_id", "mode", "model"):
        check_text(given[name] or "", f"--{name.removesuffix('_id')}")
    return Wanted(
        prompts=prompts,
        agent=given["agent"],
        cwd=cwd,
        as_json=given["as_json"],
        images=given["images"],
        session_id=given["session_id"],
        options=_options(given),
        rules=_rules(given),
        timeout=given["timeout"],
        mcp_config=given["mcp_config"],
        versions=frozenset({1, 2} if given["v2"] else {1}),
        quiet=given["quiet"],
    )


def _options(given: dict[str, Any]) -> list[tuple[str, str]]:
    if not (given["mode"] or given["model"] or given["options"]):
        return []
    from accord.cli.options import pairs

    return pairs(given["mode"], given["model"], [check_text(each, "--set") for each in given["options"]])


def _rules(given: dict[str, Any]) -> list[Any]:
    if not (given["allow"] or given["ask"] or given["deny"]):
        return []
    from accord.errors import RuleError
    from accord.policy.settings import flags

    try:
        return list(flags(given["allow"], given["ask"], given["deny"]))
    except RuleError as fault:
        raise click.UsageError(str(fault)) from None


def _prompts(given: dict[str, Any]) -> list[str]:
    words = given["prompt"]
    if given["script"] is not None:
        if words:
            raise click.UsageError("give a prompt or a --script, not both")
        turns = re.split(r"(?m)^---[ \t]*\r?$", read_text(given["script"]))
        return [turn.strip() for turn in turns if turn.strip()]
    if not words:
        if sys.stdin is None or sys.stdin.isatty():
            return []
        words = ("-",)
    if "-" in words:
        piped = read_text(sys.stdin).strip()
        text = "\n\n".join(part for part in _around(words, piped) if part)
    else:
        text = " ".join(words)
    return [text.strip()] if text.strip() else []


def _around(words: Sequence[str], piped: str) -> list[str]:
    """The words before the dash, what was piped in, and the words behind."""
    at = list(words).index("-")
    return [" ".join(words[:at]), piped, " ".join(word for word in words[at + 1 :] if word != "-")]
