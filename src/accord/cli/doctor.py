"""accord doctor: try each step from the configuration to a working agent, and explain the first that fails."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from accord.cli.support.complete import complete_agents
from accord.cli.support.options import Seconds
from accord.cli.support.streams import check_text

if TYPE_CHECKING:
    from accord.cli.support.diagnosis import Step


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("agent", required=False, shell_complete=complete_agents)
@click.option("--prompt", help="Also send this prompt and wait for the answer.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per step.")
@click.option(
    "--timeout",
    type=Seconds(),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Timeout of each step.",
)
@click.option(
    "--cwd", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path("."), help="Project directory."
)
@click.option("--v2", is_flag=True, help="Also offer protocol version 2, like run --v2 and chat --v2.")
def doctor(agent: str | None, prompt: str | None, as_json: bool, timeout: float, cwd: Path, v2: bool) -> int:
    """Diagnose why AGENT won't start or can't be reached, and say what to do.

    The steps are configuration, permissions, resolve, install, spawn, first byte, initialize, auth, session and prompt
    (only with --prompt). Doctor doesn't log in or change anything, but installs an agent that isn't installed yet. The
    exit status is 0 if all steps succeed and 1 if one fails.

    For the URL of a remote agent, the steps are resolve, dns, tcp, tls, token, http, initialize, auth, session and
    prompt.

    \b
    Examples:
      accord doctor
      accord doctor claude
      accord doctor "python my_agent.py" --prompt hello
      accord doctor https://agents.example.org/acp
    """
    import asyncio

    from accord.cli.support.diagnosis import run_steps
    from accord.cli.support.errors import configure_logging

    configure_logging()
    check_text(prompt or "", "the prompt")
    where = cwd.resolve()
    check_text(str(where), f"the directory name {where}")
    versions = frozenset({1, 2} if v2 else {1})
    return asyncio.run(_walk(run_steps(agent, prompt, timeout, where, versions), as_json))


async def _walk(steps: AsyncIterator[Step], as_json: bool) -> int:
    import msgspec

    from accord.terminal_text import escape

    good = True
    async for step in steps:
        good = good and step.ok
        if as_json:
            click.echo(msgspec.json.encode(step))
            continue
        click.echo(escape(f"{_mark(step)} {step.stage}: {step.found}"))
        for key, value in step.details.items():
            for line in _lines(value):
                click.echo(escape(f"       {key}: {line}"))
        if step.advice:
            click.echo(escape(f"     → {step.advice}"))
    return 0 if good else 1


def _mark(step: Step) -> str:
    if not step.ok:
        return "FAIL"
    return "warn" if step.warns else "ok  "


def _lines(value: Any) -> list[str]:
    if isinstance(value, list):
        return [str(each) for each in value]
    return [str(value)]
