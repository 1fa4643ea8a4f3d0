"""accord run: send one prompt, or a script of them, to any agent, without a user interface.

The agent's text streams to standard output. Tool calls and plans go to standard error if that is a terminal. The exit
status tells how the last turn ended:

    0 end_turn    1 error    2 invalid usage    3 refusal    4 max_tokens    5 max_turn_requests
    6 end_turn, but an action was refused because nobody could be asked
    7 end_turn, but the agent didn't understand the prompt (the offline model)
    8 stopped because a budget was reached
    124 --timeout    130 cancelled, or Ctrl-C    141 broken pipe on standard output    143 SIGTERM
"""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from accord.cli.support.complete import complete_agents
from accord.cli.support.options import Seconds, parse_options, parse_rules
from accord.cli.support.streams import check_text, read_text

if TYPE_CHECKING:
    from accord.cli.support.launch import StartedAgent


class RunOptions(NamedTuple):
    """The parsed command line."""

    prompts: list[str]
    agent: str | None
    cwd: Path
    as_json: bool
    images: Sequence[Path]
    session_id: str | None
    saves: bool
    """Save the session."""
    newest: bool
    """Continue the latest session of the directory."""
    name: str | None
    """The name of the session to continue or start."""
    waits: bool
    """Wait for the end of the turns."""
    options: list[tuple[str, str]]
    rules: list[Any]
    timeout: float | None
    mcp_config: Path | None
    versions: frozenset[int]
    quiet: bool
    shows_protocol: bool
    """Name the methods and error codes of the protocol in messages."""
    can_install: bool
    ignores_budget: bool
    shows_stderr: bool
    """Print the agent's standard error."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("prompt", nargs=-1)
@click.option(
    "-a",
    "--agent",
    metavar="AGENT",
    shell_complete=complete_agents,
    help="Name such as claude or codex, or a command line (default: your default agent).",
)
@click.option("--install", "can_install", is_flag=True, help="Install the agent without asking, if it isn't yet.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per event.")
@click.option("--output-schema", is_flag=True, help="Print the JSON schema of the --json output and exit.")
@click.option(
    "-f",
    "--script",
    metavar="FILE",
    type=click.File("rb"),
    help="Read prompts from a file; lines of --- separate turns.",
)
@click.option(
    "--image",
    "images",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Attach an image.",
)
@click.option("-c", "--continue", "newest", is_flag=True, help="Continue the latest session in this directory.")
@click.option("--session", "session_id", metavar="ID", help="Continue this session.")
@click.option("-s", "--name", metavar="NAME", help="Continue the session of this name in the directory, or start one.")
@click.option("--no-wait", is_flag=True, help="With --name: run in the background, after earlier runs of that session.")
@click.option("--mode", metavar="MODE", help="Set the mode before the first prompt.")
@click.option("--model", metavar="MODEL", help="Set the model before the first prompt.")
@click.option("--set", "options", multiple=True, metavar="OPTION=VALUE", help="Set any option before the first prompt.")
@click.option("--allow", multiple=True, metavar="RULE", help="Allow without asking, such as 'command:git log', or all.")
@click.option("--ask", multiple=True, metavar="RULE", help="Always ask, such as 'write:src/**'.")
@click.option("--deny", multiple=True, metavar="RULE", help="Never allow, such as 'path:**/.env'.")
@click.option("-y", "--yes", is_flag=True, help="Allow everything that no rule denies, as --allow all does.")
@click.option("--ignore-budget", is_flag=True, help="Continue when a budget is reached.")
@click.option("--no-save", is_flag=True, help="Don't save the session.")
@click.option("--timeout", type=Seconds(), metavar="SECONDS", help="Stop after this many seconds.")
@click.option(
    "--cwd", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path("."), help="Project directory."
)
@click.option(
    "--mcp-config", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="JSON file with mcpServers."
)
@click.option("--v2", is_flag=True, help="Also offer protocol version 2 (a draft).")
@click.option("-v", "--verbose", is_flag=True, help="Print the agent's log, and protocol details in errors.")
@click.option("-q", "--quiet", is_flag=True, help="Don't print progress to standard error.")
@click.pass_context
def run(ctx: click.Context, /, **given: Any) -> int:
    """Send PROMPT to an agent and print its answer.

    Without PROMPT, reads standard input. The word - in PROMPT is replaced by standard input. Files named with @path are
    attached.

    \b
    Examples:
      accord run "what does this project do?"
      accord run --continue "now add tests"
      accord run --name api "add an endpoint for health checks"
      accord run --name api --no-wait --allow "write:src/**" "now document it"
      accord run --allow "write:src/**" --allow "command:make *" "fix the failing test"
      git diff | accord run --no-save "review this:" -
      accord run --agent "python my_agent.py" --json hello

    \b
    Exit status:
      0    the agent finished its turn
      1    something failed
      2    invalid usage
      3    the agent refused
      4    the agent ran out of tokens
      5    the agent ran out of model requests
      6    the agent finished, but an action was refused because nobody could be asked (see --allow)
      7    the offline model didn't understand the prompt
      8    a budget was reached (see --ignore-budget)
      124  timed out (--timeout)
      130  cancelled (Ctrl-C)"""
    if given["output_schema"]:
        from accord.cli.support.output_events import schema

        click.echo(schema())
        return 0
    gc.disable()  # until the first prompt: imports create many objects and no garbage
    options = _parse(given)
    if not options.waits:
        return _run_in_background(ctx, options)
    if options.name is not None:
        from accord.cli.support.background import wait_for_earlier_runs

        wait_for_earlier_runs(options.cwd, options.name)
    return _run(ctx, options)


def _run_in_background(ctx: click.Context, options: RunOptions) -> int:
    """Run in a background process; in this one, report that it has started."""
    from accord.cli.support.background import Started, describe, detach

    assert options.name is not None
    made = detach(options.cwd, options.name)
    if not isinstance(made, Started):
        made.wait()
        return _run(ctx, options, made.report)
    if options.as_json:
        from accord.cli.support import output_events
        from accord.cli.support.output import JsonOutput

        JsonOutput().line(
            output_events.Background(
                name=options.name, session_id=made.session_id or None, process_id=made.pid, log=str(made.log)
            )
        )
    else:
        click.echo(describe(made, options.name, ["--agent", options.agent] if options.agent is not None else []))
    return 0


def _run(ctx: click.Context, options: RunOptions, on_start: Callable[[str], None] | None = None) -> int:
    launched = _start(options)
    # Import the client only now, while the agent starts.
    try:
        import asyncio

        from accord.cli.support.headless import HeadlessRun

        headless = HeadlessRun(options, launched, on_start)
    except BaseException:
        launched.started.abandon()
        raise
    try:
        return asyncio.run(headless.run())
    except click.UsageError as error:
        error.ctx = error.ctx or ctx
        raise


def _start(options: RunOptions) -> StartedAgent:
    from accord.cli.support.launch import install, start_agent
    from accord.errors import AccordError

    try:
        get = install if options.can_install else None
        once = options.session_id is None and not options.newest and options.name is None
        return start_agent(options.agent, options.cwd, get, once=once, save=options.saves)
    except AccordError as error:
        if options.as_json:
            from accord.cli.support import output_events
            from accord.cli.support.output import JsonOutput
            from accord.config.redaction import redact_text

            JsonOutput().line(output_events.Error(message=redact_text(str(error)), stage=error.stage or None))
        raise


def _parse(given: dict[str, Any]) -> RunOptions:
    """Read and check everything that can be checked before the agent is started."""
    prompts = [check_text(text, "the prompt") for text in _prompts(given)]
    if not prompts:
        raise click.UsageError("no prompt: pass one as an argument, or pipe one in")
    chosen = [given["newest"], given["session_id"] is not None, given["name"] is not None]
    if sum(chosen) > 1:
        raise click.UsageError("use one of --continue, --session and --name")
    if given["no_save"] and any(chosen):
        raise click.UsageError("--no-save is for new sessions")
    if given["name"] is not None and not _is_session_name(given["name"]):
        raise click.UsageError(f"--name {given['name']!r}: use letters, digits, -, _ and .")
    if given["yes"]:
        given["allow"] = (*given["allow"], "all")
    if given["no_wait"] and given["name"] is None:
        raise click.UsageError("--no-wait needs --name")
    cwd = given["cwd"].resolve()
    check_text(str(cwd), f"the directory name {cwd}")
    for name in ("session_id", "mode", "model"):
        check_text(given[name] or "", f"--{name.removesuffix('_id')}")
    return RunOptions(
        prompts=prompts,
        agent=given["agent"],
        cwd=cwd,
        as_json=given["as_json"],
        images=given["images"],
        session_id=given["session_id"],
        saves=not given["no_save"],
        newest=given["newest"],
        name=given["name"],
        waits=not given["no_wait"],
        options=parse_options(given["mode"], given["model"], [check_text(each, "--set") for each in given["options"]]),
        rules=parse_rules(given),
        timeout=given["timeout"],
        mcp_config=given["mcp_config"],
        versions=frozenset({1, 2} if given["v2"] else {1}),
        quiet=given["quiet"],
        shows_protocol=given["verbose"] or given["as_json"],
        can_install=given["can_install"],
        ignores_budget=given["ignore_budget"],
        shows_stderr=given["verbose"] and not given["as_json"],
    )


def _is_session_name(text: str) -> bool:
    """Return whether a text can be the name of a session."""
    return re.fullmatch(r"[\w][\w.-]{0,63}", text) is not None


def _prompts(given: dict[str, Any]) -> list[str]:
    words = given["prompt"]
    if given["script"] is not None:
        if words:
            raise click.UsageError("use a prompt or --script, not both")
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
    """Return the words before the dash, standard input, and the words after it."""
    at = list(words).index("-")
    return [" ".join(words[:at]), piped, " ".join(word for word in words[at + 1 :] if word != "-")]
