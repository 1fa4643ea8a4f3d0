"""accord doctor: walks the way from a name to a working agent, and says where it ends and what to do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from accord.cli.seconds import Seconds
from accord.cli.streams import check_text

if TYPE_CHECKING:
    from accord.cli.diagnosis import Step

STATIONS = (
    "configuration",
    "permissions",
    "resolve",
    "install",
    "spawn",
    "first byte",
    "initialize",
    "auth",
    "session",
    "prompt",
)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("agent", required=False)
@click.option("--prompt", help="Also send this prompt, to see whether the agent answers.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per station.")
@click.option(
    "--timeout",
    type=Seconds(),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long each wait may take.",
)
@click.option(
    "--cwd", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path("."), help="The project."
)
def doctor(agent: str | None, prompt: str | None, as_json: bool, timeout: float, cwd: Path) -> int:
    """Say in words why AGENT does not start, and what to do.

    The stations: configuration, permissions, resolve, install, spawn, first byte, initialize, auth, session, prompt
    (only with --prompt). Nothing is logged in to, opened, or changed; what is not installed yet is installed. The exit
    status is 0 when all went well and 1 when something failed."""
    import asyncio

    from accord.cli.diagnosis import stations
    from accord.cli.failing import settle_log

    settle_log()
    check_text(prompt or "", "the prompt")
    where = cwd.resolve()
    check_text(str(where), f"the name of the folder {where}")
    return asyncio.run(_walk(stations(agent, prompt, timeout, where), as_json))


async def _walk(steps: AsyncIterator[Step], as_json: bool) -> int:
    import msgspec

    from accord.cli.words import fit

    good = True
    async for step in steps:
        good = good and step.ok
        if as_json:
            click.echo(msgspec.json.encode(step))
            continue
        click.echo(fit(f"{'ok  ' if step.ok else 'FAIL'} {step.stage}: {step.found}"))
        for key, value in step.details.items():
            for line in _lines(value):
                click.echo(fit(f"       {key}: {line}"))
        if step.advice:
            click.echo(fit(f"     → {step.advice}"))
    return 0 if good else 1


def _lines(value: Any) -> list[str]:
    if isinstance(value, list):
        return [str(each) for each in value]
    return [str(value)]
