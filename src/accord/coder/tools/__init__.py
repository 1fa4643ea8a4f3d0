"""Tools: what the model can do in the project, each shown to the user while it happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from accord.coder.tools.base import Tool


def standard_tools() -> dict[str, Tool[Any]]:
    """The tools that every session has, loaded when they are asked for."""
    from accord.coder.tools import standard

    return standard.standard_tools()
