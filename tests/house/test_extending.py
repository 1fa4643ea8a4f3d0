"""The recipes of docs/extending.md: each test fails when a step of a recipe is forgotten."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import pytest
from hypothesis import Phase, find, settings
from schema.strategies import instances
from support.theme import COLORS

import accord
from accord.agent.offers import ClientOffers
from accord.agent.v1 import updates as v1_updates
from accord.agent.v2 import updates as v2_updates
from accord.coder.agent import Coder
from accord.coder.tools.base import Tool
from accord.coder.tools.registry import standard_tools
from accord.model.session import SessionInfo
from accord.model.statement import PrivateData, Raw, SetState, Statement
from accord.schema import v1, v2
from accord.schema.shape import Message
from accord.store import fold
from accord.store.export.json import document
from accord.store.export.sections import sections
from accord.testing.statements import EVERYTHING
from accord.transcript import v1 as v1_fold
from accord.transcript import v2 as v2_fold
from accord.transcript.events import Event, Unknown
from accord.transcript.snapshot import TimelineItem
from accord.transcript.transcript import Transcript

ROOT = Path(__file__).resolve().parents[2]
FOLDS = {1: v1_fold.Fold, 2: v2_fold.Fold}
ALL_OFFERS = ClientOffers(version=1, boolean_options=True, notices=True, compaction=True, plans=True, subagents=True)


def read_page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def list_members(union: Any) -> tuple[Any, ...]:
    while get_origin(union) is Annotated:
        union = get_args(union)[0]
    return tuple(member for member in get_args(union) if inspect.isclass(member) and issubclass(member, Message))


UPDATES = [(1, kind) for kind in list_members(v1.SessionUpdate)] + [
    (2, kind) for kind in list_members(v2.SessionUpdate)
]


ANY_EXAMPLE = settings(database=None, deadline=None, phases=[Phase.generate])
"""Not the smallest one: looking for it takes a second."""


def fold_everything() -> Transcript:
    transcript = Transcript("session")
    for statement in EVERYTHING:
        fold.apply(transcript, statement)
    return transcript


# -- An update type


@pytest.mark.parametrize(("version", "kind"), UPDATES, ids=lambda each: getattr(each, "__name__", f"v{each}"))
def test_every_update_type_is_folded_into_an_event(version: int, kind: type) -> None:
    update = find(instances(kind), lambda _: True, settings=ANY_EXAMPLE)
    event = FOLDS[version]().apply(update)
    assert isinstance(event, get_args(Event)) and not isinstance(event, Unknown)


@pytest.mark.parametrize("event", get_args(Event), ids=lambda event: event.__name__)
def test_every_event_is_public_and_documented(event: type) -> None:
    assert event.__name__ in accord.__all__
    assert re.search(rf"^\|[^|]*`{event.__name__}`", read_page("clients"), re.MULTILINE), "a row in docs/clients.md"


def test_every_statement_has_an_example_in_the_test_kit() -> None:
    assert {type(statement) for statement in EVERYTHING} == set(get_args(Statement)) - {PrivateData}


def test_every_statement_is_written_in_some_version() -> None:
    written = {
        type(statement)
        for statement in EVERYTHING
        if v1_updates.updates(statement, ALL_OFFERS, {}) or v2_updates.updates(statement, unstable=True)
    }
    assert {type(statement) for statement in EVERYTHING} - written - {Raw} == set()


def test_every_statement_of_a_stored_session_changes_its_transcript() -> None:
    transcript, effective = Transcript("session"), {SetState}  # a state describes a moment that is over
    for statement in EVERYTHING:
        before = transcript.snapshot()
        fold.apply(transcript, statement)
        if transcript.snapshot() != before:
            effective.add(type(statement))
    assert {type(statement) for statement in EVERYTHING} - effective == set(), "a case in accord/store/fold.py"


def test_every_item_of_a_timeline_is_exported() -> None:
    transcript = fold_everything()
    assert {type(item) for item in transcript.timeline} == set(get_args(TimelineItem))
    exported = document(SessionInfo(id="session", cwd="/"), transcript, {})
    assert all(exported["items"])
    kinds = {section.kind for section in sections(transcript)}
    assert kinds >= {"user", "agent", "thought", "tool", "notice", "compaction"}


def test_every_item_of_a_timeline_is_rendered_by_its_own_block() -> None:
    from accord.tui.theme import TextStyles
    from accord.tui.transcript.blocks.base import BlockContext
    from accord.tui.transcript.blocks.factory import block_for

    context = BlockContext(TextStyles(COLORS, dark=True), width=80)
    blocks = {type(item): type(block_for(item, None, context, None)) for item in fold_everything().timeline}
    assert set(blocks) == set(get_args(TimelineItem))
    assert len(set(blocks.values())) == len(blocks), "a case in accord/tui/transcript/blocks/factory.py"


# -- A tool of the coding agent


def list_tool_classes() -> list[type]:
    """List the tools that are defined in `coder/tools`, one module per tool or pair of tools."""
    classes = []
    for path in sorted((ROOT / "src" / "accord" / "coder" / "tools").glob("*.py")):
        module = import_module(f"accord.coder.tools.{path.stem}")
        found = [each for each in vars(module).values() if inspect.isclass(each) and issubclass(each, Tool)]
        classes += [each for each in found if each.__module__ == module.__name__ and not inspect.isabstract(each)]
    return classes


@pytest.mark.parametrize("kind", list_tool_classes(), ids=lambda kind: kind.__name__)
def test_every_tool_is_registered_documented_and_tested(kind: Any) -> None:
    assert isinstance(standard_tools().get(kind.name), kind), "an entry in accord/coder/tools/registry.py"
    assert re.search(rf"^\| `{kind.name}\(", read_page("coder-tools"), re.MULTILINE), "a row in docs/coder-tools.md"
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "coder" / "tools").glob("*.py"))
    assert f'"{kind.name}"' in tests, "a test in tests/coder/tools"


# -- A slash command


@pytest.mark.parametrize("name", Coder().commands_written)
def test_every_slash_command_has_help_and_documentation(name: str) -> None:
    command, _ = Coder().commands_written[name]
    assert command.description, "the second argument of @command"
    assert re.search(rf"^\| `/{name}\b", read_page("coder"), re.MULTILINE), "a row in docs/coder.md"
    tests = (ROOT / "tests" / "coder" / "test_commands.py").read_text(encoding="utf-8")
    assert f"/{name}" in tests, "a test in tests/coder/test_commands.py"


# -- A panel, a screen or a key of the terminal client


def test_every_command_of_the_terminal_client_is_documented_by_its_key() -> None:
    from accord.tui.commands import COMMANDS

    page = read_page("chat")
    for command in COMMANDS:
        if command.keys:
            assert spell(command.keys.split(",")[0]) in page, f"{command.title} in docs/chat.md"


def list_panels() -> list[str]:
    panels = ROOT / "src" / "accord" / "tui" / "panels"
    widgets = r"^class (\w+)\((?:Widget|AskingPanel)\b"
    found = {name for path in panels.glob("*.py") for name in re.findall(widgets, path.read_text(), re.M)}
    return sorted(found - {"AskingPanel", "Headline", "KeyLine", "StatusLine"})  # a base class, and permanent lines


@pytest.mark.parametrize("panel", list_panels())
def test_every_panel_has_a_slot_and_a_snapshot_or_test(panel: str) -> None:
    mounts = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src/accord/tui/tab").glob("*.py"))
    assert f"PanelSlot[{panel}]" in mounts, "a PanelSlot in accord/tui/tab"
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "tui").rglob("*.py"))
    assert panel in tests, "a snapshot or a test in tests/tui"


def spell(key: str) -> str:
    """Spell a key as documents do: `ctrl+n` is Ctrl-N, `alt+up` is Alt-↑."""
    names = {"up": "↑", "down": "↓", "tab": "Tab"}
    parts = [
        names.get(part, part.upper() if len(part) < 4 and part != "alt" else part.title()) for part in key.split("+")
    ]
    return "-".join(parts)


def test_every_setting_of_the_terminal_client_can_be_changed() -> None:
    from accord.tui.preferences import CHOICES, SWITCHES, Preferences

    assert {"theme", *SWITCHES, *CHOICES} == set(Preferences.__struct_fields__)


def test_every_command_that_toggles_a_setting_names_a_switch() -> None:
    from accord.tui.commands import COMMANDS
    from accord.tui.preferences import SWITCHES

    toggles = [command for command in COMMANDS if command.action == "toggle_setting"]
    assert toggles and all(command.setting in SWITCHES for command in toggles)
    assert not [command for command in COMMANDS if command.setting and command not in toggles]


# -- The page itself


def test_the_recipes_name_tests_that_exist() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", read_page("extending"))
    assert len(named) >= 10
    for path, function in named:
        text = (ROOT / path).read_text(encoding="utf-8")
        assert not function or f"def {function}(" in text, f"{path}::{function}"
