"""Files and terminals: the server's own under its policy, or those of the driving client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.hub_client import HubClient, InProcessSpawner, joined

from accord import Agent, RequestFailed, Turn
from accord.hub.hub import Hub
from accord.model.tool import Diff
from accord.policy.engine import Policy
from accord.policy.rule import Rule

PERMISSION = "session/request_permission"


class Filer(Agent):
    """Reads, writes and runs what its prompt says: `read PATH`, `write PATH TEXT`, `run COMMAND`."""

    async def prompt(self, turn: Turn) -> None:
        await self.act(turn, turn.text)

    async def act(self, turn: Turn, text: str) -> None:
        verb, _, rest = text.partition(" ")
        try:
            if verb == "read":
                await turn.say(await turn.files.read(rest))
            elif verb == "write":
                path, _, text = rest.partition(" ")
                await turn.files.write(path, text)
                await turn.say("written")
            else:
                output = await turn.terminals.run("sh", ["-c", rest])
                await turn.say(f"{output.text.strip()} {output.exit.code if output.exit else ''}")
        except RequestFailed as error:
            await turn.say(f"failed: {error.message}")


def choose(request: dict[str, Any], kind: str) -> dict[str, Any]:
    option = next(each for each in request["params"]["options"] if each["kind"] == kind)
    return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}


class AskingFiler(Filer):
    """Asks before it acts. `show` is what its permission request shows; it then writes or runs what the prompt says."""

    async def prompt(self, turn: Turn) -> None:
        what, _, then = turn.text.partition(" then ")
        verb, _, rest = what.partition(" ")
        if verb == "show":
            path, _, text = rest.partition(" ")
            await turn.permit(f"Write {path}", kind="edit", content=[Diff.of(path, None, text)], always=True)
        elif verb == "locate":
            await turn.permit(f"Write {rest}", kind="edit", locations=[rest])
        else:
            title, _, command = rest.partition(": ")
            await turn.permit(title, command=command)
        await self.act(turn, then)


async def test_the_agent_reads_the_servers_files(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("remember")
    async with Hub(InProcessSpawner(Filer), root=tmp_path) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        await client.response(client.prompt(session, f"read {tmp_path / 'notes.txt'}"))

        assert client.texts() == ["remember"]
        assert "fs/read_text_file" not in str(client.messages)


async def test_if_the_servers_policy_asks_the_clients_get_a_permission_request(tmp_path: Path) -> None:
    target = tmp_path / "new.txt"
    async with Hub(InProcessSpawner(Filer), root=tmp_path) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        for kind, written in (("reject_once", False), ("allow_once", True)):
            seen = len(client.messages)
            prompt = client.prompt(session, f"write {target} hello")
            request = await client.wait_for(PERMISSION, seen)
            assert not target.exists()
            call = request["params"]["toolCall"]
            assert call["kind"] == "edit"
            assert call["title"] == f"Write {target}"
            assert {"type": "diff", "path": str(target), "newText": "hello"} in call["content"]
            client.answer(request, choose(request, kind))
            await client.response(prompt)
            assert target.exists() == written

        assert client.texts()[1:] == ["written"]
        assert client.texts()[0].startswith("failed: refused")


async def test_a_rule_of_the_servers_policy_decides_without_asking(tmp_path: Path) -> None:
    rules = [Rule(effect="deny", path=("secret.txt",)), Rule(effect="allow", path=("**",), access="write")]
    (tmp_path / "secret.txt").write_text("key")
    policy = Policy(tmp_path, user=rules)
    async with Hub(InProcessSpawner(Filer), root=tmp_path, policy=policy) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        await client.response(client.prompt(session, f"read {tmp_path / 'secret.txt'}"))
        await client.response(client.prompt(session, f"write {tmp_path / 'other.txt'} x"))

        assert client.texts()[0].startswith("failed: refused")
        assert client.texts()[1] == "written"
        assert PERMISSION not in str(client.messages)


async def test_files_outside_of_the_sessions_directory_are_refused(tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("no")
    (tmp_path / "project").mkdir()
    rules = [Rule(effect="allow", path=("**",)), Rule(effect="allow", path=(f"{tmp_path}/**",))]
    policy = Policy(tmp_path, user=rules)
    async with Hub(InProcessSpawner(Filer), root=tmp_path, policy=policy) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path / "project"))
        await client.response(client.prompt(session, f"read {tmp_path / 'outside.txt'}"))

        assert client.texts()[0].startswith("failed: ")
        assert client.texts()[0] != "no"


async def test_a_command_runs_on_the_server_once_a_client_allows_it(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Filer), root=tmp_path) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        prompt = client.prompt(session, "run echo hi > made.txt; echo done")
        request = await client.wait_for(PERMISSION)
        assert request["params"]["toolCall"]["kind"] == "execute"
        client.answer(request, choose(request, "allow_once"))
        await client.response(prompt)

        assert client.texts() == ["done 0"]
        assert (tmp_path / "made.txt").read_text() == "hi\n"


async def allow_all(client: HubClient, session: str, text: str, kind: str = "allow_once") -> list[str]:
    """Run a prompt, allow all permission requests, and return their titles."""
    seen, titles = len(client.messages), []
    prompt = client.prompt(session, text)
    while True:
        message = await client.wait(
            lambda each: each.get("method") == PERMISSION or (each.get("id") == prompt and "method" not in each), seen
        )
        if "method" not in message:
            return titles
        seen = client.messages.index(message) + 1
        titles.append(message["params"]["toolCall"]["title"])
        client.answer(message, choose(message, kind))


async def test_what_a_client_has_allowed_the_agent_is_not_asked_again(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(AskingFiler), root=tmp_path) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        new = tmp_path / "new.txt"

        assert await allow_all(client, session, f"show {new} hello then write {new} hello") == [f"Write {new}"]
        assert new.read_text() == "hello"
        assert await allow_all(client, session, "command touch one: touch one then run touch one") == ["touch one"]
        assert (tmp_path / "one").exists()
        # The same action without a new question of the agent: that permission has been used.
        assert len(await allow_all(client, session, f"command Other: other then write {new} again")) == 2


async def test_allowed_for_the_session_lasts_for_the_session(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(AskingFiler), root=tmp_path) as hub, joined(hub) as client:
        session, other = await client.new_session(str(tmp_path)), await client.new_session(str(tmp_path))
        new = tmp_path / "new.txt"
        await allow_all(client, session, f"show {new} hello then write {new} hello", "allow_always")

        assert await allow_all(client, session, f"command Other: other then write {new} more") == ["Other"]
        assert len(await allow_all(client, other, f"command Other: other then write {new} again")) == 2


async def test_the_policy_still_asks_about_what_the_agents_request_did_not_show(tmp_path: Path) -> None:
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    hidden = [
        f"show {one} hello then write {one} something else",
        f"show {one} hello then write {two} hello",
        f"locate {three} then write {three} hello",
        "command List files: rm -rf x then run rm -rf x",
        "command Run make: make then run rm -rf x",
    ]
    async with Hub(InProcessSpawner(AskingFiler), root=tmp_path) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        for text in hidden:
            assert len(await allow_all(client, session, text)) == 2, text


async def test_a_question_about_a_command_shows_all_of_it(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Filer), root=tmp_path) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        client.prompt(session, "run echo one; rm two")
        request = await client.wait_for(PERMISSION)

        assert "echo one; rm two" in request["params"]["toolCall"]["content"][0]["content"]["text"]


async def test_a_cancelled_turn_refuses_actions_that_wait_for_permission(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Filer), root=tmp_path) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        prompt = client.prompt(session, f"write {tmp_path / 'new.txt'} hello")
        await client.wait_for(PERMISSION)
        client.notify("session/cancel", {"sessionId": session})
        response = await client.response(prompt)

        assert response["result"]["stopReason"] == "cancelled"
        assert not (tmp_path / "new.txt").exists()


async def test_with_client_files_the_driving_client_serves_them(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Filer), root=tmp_path, client_files=True) as hub, joined(hub) as other:
        driver = HubClient(hub)
        files = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": False}
        await driver.call("initialize", {"protocolVersion": 1, "clientCapabilities": files})
        session = await driver.new_session(str(tmp_path))
        await other.call("session/resume", {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []})
        prompt = driver.prompt(session, "read /editor/buffer.txt")
        request = await driver.wait_for("fs/read_text_file")
        assert request["params"]["path"] == "/editor/buffer.txt"
        driver.answer(request, {"content": "unsaved"})
        await driver.response(prompt)

        assert driver.texts() == ["unsaved"]
        assert "fs/read_text_file" not in str(other.messages)
        await driver.close()
