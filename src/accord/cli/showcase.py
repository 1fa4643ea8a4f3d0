"""accord showcase: an agent without a model that shows every feature of the protocol, for client authors."""

from __future__ import annotations

import click


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--pace",
    type=click.FloatRange(0, 60),
    default=0.1,
    show_default=True,
    help="Seconds between two steps; 0 for tests.",
)
def showcase(pace: float) -> None:
    """An agent on standard input and output that shows every feature of the protocol on request.

    Put this command into your client's settings and send /help. It speaks versions 1 and 2, needs no key and no
    network, and changes nothing on your disk unless you allow it."""
    from accord.agent.run import run
    from accord.showcase.showcase import Showcase

    run(Showcase(pace=pace))
