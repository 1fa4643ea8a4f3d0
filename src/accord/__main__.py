"""`python -m accord` is `accord`."""

from __future__ import annotations


def main() -> None:
    """Run a command. Ctrl-C ends it silently until the command installs its own handler."""
    import signal
    import sys

    if __name__ == "__main__" and not sys.flags.safe_path:
        del sys.path[0]  # `python -m` puts the working directory here; never import a project's modules
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from accord.cli.main import main as command

    command()


if __name__ == "__main__":
    main()
