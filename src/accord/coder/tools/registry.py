"""The built-in tools. Some are offered only to sessions that can use them (`Tool.is_offered`)."""

from __future__ import annotations

from typing import Any

from accord.coder.tools.apply_patch import ApplyPatch
from accord.coder.tools.ask_user import AskUser, SwitchMode
from accord.coder.tools.background import ReadOutput, StopCommand
from accord.coder.tools.base import Tool
from accord.coder.tools.edit_file import EditFile, WriteFile
from accord.coder.tools.explore import Explore
from accord.coder.tools.fetch_url import FetchUrl
from accord.coder.tools.list_files import ListFiles
from accord.coder.tools.move_or_delete import MoveOrDelete
from accord.coder.tools.outline import Outline
from accord.coder.tools.plan import SetPlan
from accord.coder.tools.read_file import ReadFile
from accord.coder.tools.run_command import RunCommand
from accord.coder.tools.search import Search
from accord.coder.tools.show_changes import ShowChanges
from accord.coder.tools.skill import UseSkill
from accord.coder.tools.web_search import WebSearch


def standard_tools() -> dict[str, Tool[Any]]:
    """Return the built-in tools by name, in the order the model sees them: reading, changing, the rest."""
    tools: list[Tool[Any]] = [
        ReadFile(),
        ListFiles(),
        Search(),
        Outline(),
        ShowChanges(),
        Explore(),
        EditFile(),
        WriteFile(),
        ApplyPatch(),
        MoveOrDelete(),
        RunCommand(),
        ReadOutput(),
        StopCommand(),
        FetchUrl(),
        WebSearch(),
        SetPlan(),
        AskUser(),
        SwitchMode(),
        UseSkill(),
    ]
    return {tool.name: tool for tool in tools}
