"""Files over the wire, for an agent of version 1 that asks an editor."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from accord.client.local_workspace import LocalWorkspace
from accord.client.workspace import Workspace
from accord.policy.engine import Policy
from accord.policy.rule import parse_rule
from accord.testing.wire import WirePeer, wire_agent
from accord.workspace.files import Files
from accord.workspace.roots import Roots


class Lent(Workspace):
    """An editor's workspace: its files and nothing else."""

    def __init__(self, files: Files) -> None:
        self.files = files

    async def read(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        return await self.files.read(path, line, limit)

    async def write(self, session_id: str, path: str, text: str) -> None:
        await self.files.write(path, text)


@asynccontextmanager
async def editor(folder: Path) -> AsyncIterator[tuple[WirePeer, Files]]:
    with Roots(str(folder)) as roots:
        files = Files(roots, sync=False)
        async with wire_agent(workspace=Lent(files), cwd=str(folder)) as (agent, client):
            opening = asyncio.ensure_future(client.new_session())
            await agent.reply(await agent.next_call("session/new"), {"sessionId": "s"})
            await opening
            yield agent, files


def ask(path: object, **more: object) -> dict[str, Any]:
    return {"sessionId": "s", "path": str(path), **more}


@pytest.mark.req("V1-FS-03", "V1-FS-04", "V1-FS-05")
async def test_an_agent_reads_what_is_on_screen_by_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("disk\n")
    async with editor(tmp_path) as (agent, files):
        files.overlay.show(str(tmp_path / "a.txt"), "one\r\ntwo\r\n")
        for more, content in (
            ({}, "one\r\ntwo\r\n"),
            ({"line": 2, "limit": 1}, "two\r\n"),
            ({"line": None}, "one\r\ntwo\r\n"),
        ):
            answer = await agent.call("fs/read_text_file", ask(tmp_path / "a.txt", **more))
            assert answer["result"] == {"content": content}
        for more, content in (({"line": 0, "limit": 1}, "one\r\n"), ({"line": 9}, ""), ({"limit": 0}, "")):
            answer = await agent.call("fs/read_text_file", ask(tmp_path / "a.txt", **more))
            assert answer["result"] == {"content": content}


@pytest.mark.req("V1-FS-06", "V1-FS-07", "V1-FS-10", "V1-FS-11")
async def test_an_agent_writes_a_file_and_gets_an_empty_answer(tmp_path: Path) -> None:
    async with editor(tmp_path) as (agent, _):
        answer = await agent.call("fs/write_text_file", ask(tmp_path / "new/a.txt", content="x\r\ny"))
        assert answer["result"] == {}
        assert (tmp_path / "new/a.txt").read_bytes() == b"x\r\ny"
        (tmp_path / "folder").mkdir()
        answer = await agent.call("fs/write_text_file", ask(tmp_path / "folder", content="x"))
        assert "is a directory" in answer["error"]["message"]


@pytest.mark.req("V1-FS-08", "V1-FS-09", "V1-SETUP-22", "V1-SETUP-23")
@pytest.mark.parametrize(
    "path, code", [("{}/nope.txt", -32002), ("a.txt", -32602), ("/etc/passwd", -32602), ("{}/exit/passwd", -32602)]
)
async def test_an_agent_gets_the_reason_of_a_refusal(tmp_path: Path, path: str, code: int) -> None:
    (tmp_path / "exit").symlink_to("/etc")
    async with editor(tmp_path) as (agent, _):
        answer = await agent.call("fs/read_text_file", ask(path.format(tmp_path)))
        assert answer["error"]["code"] == code


@pytest.mark.req("V1-SETUP-21", "V1-SETUP-23")
async def test_an_agent_gets_only_the_directories_that_the_user_granted(tmp_path: Path) -> None:
    project, granted, other = (tmp_path / name for name in ("project", "granted", "other"))
    for folder in (project, granted, other):
        folder.mkdir()
        (folder / "a.txt").write_text("text")
    policy = Policy(project, user=[parse_rule(f"allow read:{tmp_path}/**")])  # the roots alone are tested here
    async with (
        LocalWorkspace(project, [str(granted)], policy=policy) as local,
        wire_agent(workspace=local, cwd=str(project)) as (agent, client),
    ):
        opening = asyncio.ensure_future(client.new_session())
        request = await agent.next_call("session/new")
        await agent.reply(request, {"sessionId": "s"})
        await opening
        answers = [await agent.call("fs/read_text_file", ask(each / "a.txt")) for each in (project, granted, other)]
    assert (request["params"]["cwd"], request["params"].get("additionalDirectories", [])) == (str(project), [])
    assert ["result" in answer for answer in answers] == [True, True, False]
