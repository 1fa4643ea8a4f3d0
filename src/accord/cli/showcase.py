"""accord showcase: a demo agent for client authors. It shows the features of the protocol and needs no model."""

from __future__ import annotations

import click


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--pace",
    type=click.FloatRange(0, 60),
    default=0.1,
    show_default=True,
    help="Seconds between steps; 0 for tests.",
)
def showcase(pace: float) -> None:
    """Run a demo agent on standard input and output that shows the features of the protocol.

    Add this command to your client's settings and send /help. It speaks versions 1 and 2, needs no API key and no
    network, and changes no files without your permission.

    \b
    Examples:
      accord showcase
      accord chat "accord showcase"
    """
    from accord.agent.run import run
    from accord.showcase.agent import Showcase

    run(Showcase(pace=pace))
