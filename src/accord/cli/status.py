"""accord status: the sessions of all agents on this machine, and which of them wait for you."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from accord.status.entry import SessionStatus

WATCH_SECONDS = 1.0
WAITING = 10
"""Exit status: a session waits for the user."""
MAX_ENDED = 10
"""Maximum number of ended sessions in the list without --all."""
MAX_TITLE_WIDTH = 40
"""The width of the column of titles. A longer title moves only the rest of its row."""
_COLORS = {"waiting": "yellow", "failed": "red", "finished": "green", "running": "cyan"}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per session.")
@click.option("-w", "--watch", is_flag=True, help="Update the list until Ctrl-C.")
@click.option(
    "--all", "everything", is_flag=True, help="List every session, including open ones in which nothing happens."
)
@click.option("--clear", is_flag=True, help="Forget sessions that finished or failed.")
def status(as_json: bool, watch: bool, everything: bool, clear: bool) -> int:
    """List the sessions of all agents on this machine: waiting for you, failed, finished and not yet seen, running.

    The exit status is 0, or 10 if a session waits for you.

    \b
    Examples:
      accord status
      accord status --watch
      accord status --json | jq -r 'select(.state == "waiting").why'
      accord status --clear
    """
    from accord.status.attention_list import AttentionList

    found = AttentionList()
    if clear:
        found.mark_seen()
    if watch:
        return _watch(found.read, as_json=as_json, everything=everything)
    sessions = _select(found.read(), everything)
    if as_json:
        _print_json(sessions)
    else:
        for line in [*format_list(sessions, time.time(), everything=everything), *_describe_spending()]:
            click.echo(line)
    return WAITING if any(each.state == "waiting" for each in sessions) else 0


def _select(sessions: Sequence[SessionStatus], everything: bool) -> list[SessionStatus]:
    return [each for each in sessions if everything or each.state != "idle"]


def _describe_spending() -> list[str]:
    """Describe what the agents used today, and the budgets."""
    from pathlib import Path

    from accord.config.budget import Spent
    from accord.policy.project import load_configuration
    from accord.status.spending_log import SpendingLog
    from accord.terminal_text import escape_line

    today = SpendingLog().read_today()
    settings = load_configuration(Path.cwd()).settings
    if not today and settings.budget is None and not settings.budgets:
        return []
    rows = [
        (
            "All agents",
            Spent(sum(each.tokens for each in today.values()), sum(each.cost for each in today.values())),
            settings.budget,
        )
    ]
    names = sorted({*today, *settings.budgets})
    rows += [(name, today.get(name, Spent()), settings.budgets.get(name)) for name in names]
    width = max(len(name) for name, _, _ in rows)
    lines = ["", "Used today:"]
    for name, spent, budget in rows:
        tokens = f", {spent.tokens:,} tokens" if spent.tokens else ""
        limit = f"  (budget: {budget})" if budget else ""
        lines.append(escape_line(f"{name:{width}}", 100).ljust(width + 2) + f"${spent.cost:.2f}{tokens}{limit}")
    return lines


def format_list(sessions: Sequence[SessionStatus], now: float, *, everything: bool = False) -> list[str]:
    """Format the list: for each session its state, age, title, agent and directory, then the reason and a command.

    Scripts can leave many sessions that have ended. The oldest are only counted, unless `everything` is true."""
    import os

    from accord.cli.support.live_region import measure
    from accord.terminal_text import escape_line, format_duration

    if not sessions:
        return ["No session needs you, and none is running."]
    home = os.path.expanduser("~")
    lines = []
    ended = [each for each in sessions if each.state in ("failed", "finished")]
    hidden = [] if everything else ended[MAX_ENDED:]
    rows = [
        (escape_line(each.title or "Untitled session"), escape_line(each.agent), each)
        for each in sessions
        if each not in hidden
    ]
    title_width = min(max(measure(title) for title, _, _ in rows), MAX_TITLE_WIDTH)
    agent_width = max(measure(agent) for _, agent, _ in rows)
    for title, agent, each in rows:
        state = click.style(f"{each.state:8}", fg=_COLORS.get(each.state))
        age = format_duration(max(10, now - each.since)) if now - each.since >= 10 else "now"
        where = f"~{each.cwd[len(home) :]}" if each.cwd.startswith(f"{home}/") or each.cwd == home else each.cwd
        title = click.style(title, bold=True) + " " * (title_width - measure(title))
        agent += " " * (agent_width - measure(agent))
        lines.append(f"{state}  {age:>7}  {title}  {agent}  {escape_line(where, 1000)}")
        if each.why:
            lines.append(f"                   {escape_line(each.why)}")
        if each.process_id:
            lines.append(
                click.style(f"                   in the background; to stop it: kill {each.process_id}", dim=True)
            )
        if each.client != "serve":
            lines.append(click.style(f"                   {each.open_command}", dim=True))
    if hidden:
        lines.append(f"… and {len(hidden)} more that ended (--all lists them, --clear forgets them)")
    return lines


def _print_json(sessions: Sequence[SessionStatus]) -> None:
    import msgspec

    for each in sessions:
        click.echo(msgspec.json.encode({**msgspec.to_builtins(each), "open_with": each.open_command}))


def _watch(read: Callable[[], list[SessionStatus]], *, as_json: bool, everything: bool) -> int:
    """Print the list whenever it changes; on a terminal, in place."""
    import sys

    from accord.cli.support.live_region import LiveRegion, fit, measure

    region = LiveRegion(sys.stdout, color=True) if sys.stdout.isatty() and not as_json else None
    before: list[SessionStatus] | None = None
    try:
        while True:
            sessions = _select(read(), everything)
            if region is not None:
                columns, rows = region.size
                lines = [fit(click.unstyle(line), columns - 1) for line in format_list(sessions, time.time())]
                region.draw([], [(line, measure(line)) for line in lines[: rows - 1]])
            elif sessions != before:
                _print_json(sessions) if as_json else click.echo("\n".join(format_list(sessions, time.time())))
                sys.stdout.flush()
            before = sessions
            time.sleep(WATCH_SECONDS)
    except KeyboardInterrupt:
        if region is not None:
            click.echo()
        return 0
