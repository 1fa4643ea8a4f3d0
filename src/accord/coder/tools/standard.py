"""The tools that every session has."""

from __future__ import annotations

from typing import Any

from accord.coder.tools.asking import AskUser, SwitchMode
from accord.coder.tools.base import Tool
from accord.coder.tools.changing import ShowChanges
from accord.coder.tools.editing import EditFile, WriteFile
from accord.coder.tools.fetching import FetchUrl
from accord.coder.tools.listing import FindFiles, ListFiles
from accord.coder.tools.naming import FindSymbol
from accord.coder.tools.outlining import Outline
from accord.coder.tools.planning import AddTodo, SetPlan
from accord.coder.tools.reading import ReadFile
from accord.coder.tools.removing import DeleteFile, MoveFile
from accord.coder.tools.running import RunCommand
from accord.coder.tools.searching import Search


def standard_tools() -> dict[str, Tool[Any]]:
    """The tools that every session has, in the order in which a model is told of them: looking, changing, the rest."""
    tools: list[Tool[Any]] = [
        ReadFile(),
        ListFiles(),
        FindFiles(),
        Search(),
        Outline(),
        FindSymbol(),
        ShowChanges(),
        EditFile(),
        WriteFile(),
        DeleteFile(),
        MoveFile(),
        RunCommand(),
        FetchUrl(),
        SetPlan(),
        AddTodo(),
        AskUser(),
        SwitchMode(),
    ]
    return {tool.name: tool for tool in tools}
