"""Every manner of models is carried out, or corrected within two calls."""

from __future__ import annotations

from pathlib import Path

import pytest
from coder.scripted_model import coder

from accord.coder.history import Call, Result, ToolsSaid
from accord.coder.models.pydantic_ai.events import decode_arguments
from accord.testing import link

from .table import FILES, MANNERS, Manner, Send

PAGE = Path(__file__).parents[3] / "docs" / "coder-evaluation.md"


def as_call(sent: Send, id: str, project: Path) -> Call:
    """Return a call with decoded arguments, as a provider's stream yields it."""
    arguments, fault = sent.arguments, None
    if isinstance(arguments, str):
        arguments, fault = decode_arguments(arguments, can_repair=True)
    path = arguments.get("file_path")
    if isinstance(path, str):
        arguments = {**arguments, "file_path": path.replace("{project}", str(project))}
    return Call(id=id, name=sent.tool, arguments=arguments, fault=fault)


def furnish(project: Path) -> None:
    for path, text in FILES.items():
        (project / path).parent.mkdir(exist_ok=True)
        (project / path).write_bytes(text.encode())


def contents(project: Path) -> dict[str, str]:
    return {str(file.relative_to(project)): file.read_bytes().decode() for file in project.rglob("*") if file.is_file()}


async def send(calls: list[Call], project: Path) -> list[Result]:
    """Run one turn in which the model sends the calls, one after another. Returns their results."""
    agent, model = coder(*([call] for call in calls), tools=None)
    async with link(agent, permissions=lambda request: True, version=1, cwd=str(project)) as client:
        session = await client.new_session()
        await session.prompt("go")
    said = [message for message in model.requests[-1].messages if isinstance(message, ToolsSaid)]
    return [result for message in said for result in message.results]


@pytest.mark.parametrize("manner", MANNERS, ids=[manner.deviation for manner in MANNERS])
async def test_a_call_as_models_send_it_has_its_effect(manner: Manner, project: Path) -> None:
    furnish(project)
    sent = [manner.sent, manner.correction[1]] if manner.correction else [manner.sent]
    results = await send([as_call(each, str(number), project) for number, each in enumerate(sent)], project)
    if manner.correction:
        assert results[0].failed and manner.correction[0] in results[0].text
    assert not results[-1].failed, results[-1].text
    assert manner.result in results[-1].text
    assert contents(project) == {path: text for path, text in (FILES | manner.files).items() if text is not None}


def test_there_are_at_least_a_hundred_and_each_asserts_an_effect() -> None:
    names = [manner.deviation for manner in MANNERS]
    assert len(names) == len(set(names)) >= 100
    assert all(manner.result or manner.files for manner in MANNERS)


def test_the_page_lists_every_manner() -> None:
    rows = [f"| {manner.deviation} | {'corrected' if manner.correction else 'done'} |" for manner in MANNERS]
    section = PAGE.read_text().partition("## Deviations from the schema\n")[2].partition("\n## ")[0]
    assert [line for line in section.splitlines() if line.startswith("|")][2:] == rows
