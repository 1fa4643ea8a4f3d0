"""`python -m accord` is `accord`."""

from __future__ import annotations

from accord.cli.main import main

if __name__ == "__main__":
    main()
