"""The version of this distribution, and its name on PyPI."""

__version__ = "0.1.0"

DISTRIBUTION = "accord-acp"  # `accord` on PyPI is another project; the import name and the command are `accord`


def install_command(extra: str) -> str:
    """Return the command that installs an extra, for error messages."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"
