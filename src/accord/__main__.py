"""`python -m accord` is `accord`."""

from __future__ import annotations


def main() -> None:
    """Runs a command. Ctrl-C while it is loaded ends it without a word; from then on the command sees to it."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from accord.cli.main import main as command

    command()


if __name__ == "__main__":
    main()
