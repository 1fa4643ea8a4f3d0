"""accord serve token: manage the tokens of remote clients."""

from __future__ import annotations

import re
from typing import Any

import click

_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 604800}


@click.group()
def token() -> None:
    """Create, list and revoke tokens for other machines.

    \b
    Examples:
      accord serve token new laptop --expires 4w
      accord serve token list
      accord serve token revoke laptop
    """


@token.command()
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice(["driver", "watcher", "admin"]),
    default="driver",
    show_default=True,
    help="Rights: send prompts (driver), only watch (watcher), or use every session and read the metrics (admin).",
)
@click.option(
    "--expires",
    metavar="WHEN",
    help="When it expires: in 12h, 30d or 4w, or on a date such as 2027-01-31 (default: never).",
)
def new(name: str, role: Any, expires: str | None) -> None:
    """Create a token called NAME and print it. It is printed only once; only its hash is saved.

    \b
    Examples:
      accord serve token new laptop --expires 4w
      accord serve token new screen --role watcher
    """
    from accord.server.tokens import TokenFile

    file = TokenFile()
    click.echo(file.create(name, role, _parse_expiry(expires)))
    click.echo(f"Created the token {name} ({role}). Only its hash is saved, in {file.path}", err=True)


@token.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def list_tokens(as_json: bool) -> None:
    """List tokens with their roles and expiry dates.

    \b
    Examples:
      accord serve token list
      accord serve token list --json
    """
    import time

    from accord.server.tokens import TokenFile

    for record in TokenFile().load():
        state = "never expires"
        if record.expires is not None:
            word = "expired" if record.has_expired(time.time()) else "expires"
            state = f"{word} {_format(record.expires)}"
        if as_json:
            import msgspec

            shown = {"name": record.name, "role": record.role, "created": _format(record.created)}
            expires = None if record.expires is None else _format(record.expires)
            click.echo(msgspec.json.encode({**shown, "expires": expires}))
        else:
            click.echo(f"{record.name}  {record.role}  created {_format(record.created)}  {state}")


@token.command()
@click.argument("name")
def revoke(name: str) -> None:
    """Revoke a token. Running servers close its connections.

    \b
    Examples:
      accord serve token revoke laptop
    """
    from accord.server.tokens import TokenFile

    TokenFile().revoke(name)
    click.echo(f"Revoked {name}", err=True)


def _parse_expiry(text: str | None) -> float | None:
    """Return the time of an `--expires` option, in seconds since the epoch."""
    if text is None:
        return None
    import time
    from datetime import UTC, datetime

    found = re.fullmatch(r"(\d{1,6})([mhdw])", text.strip())
    if found and int(found[1]):
        return time.time() + int(found[1]) * _UNITS[found[2]]
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise click.UsageError(
            f"--expires {text!r}: expected a duration such as 12h, 30d or 4w, or a date such as 2027-01-31"
        ) from None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    if moment.timestamp() <= time.time():
        raise click.UsageError(f"--expires {text!r} is in the past")
    return moment.timestamp()


def _format(seconds: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
