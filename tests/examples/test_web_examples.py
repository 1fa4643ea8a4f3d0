"""The web examples, as processes: their agent is a process too, on a model of a provider on this machine."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from coder.providers.script import Calls, Holds, Says
from coder.providers.server import FakeProvider
from support.example_process import command_of, serve_example
from support.fake_slack import FakeSlack

pytestmark = pytest.mark.slow


@pytest.fixture
async def provider() -> AsyncIterator[FakeProvider]:
    async with FakeProvider() as fake:
        yield fake


# -- web_service.py


@asynccontextmanager
async def web_service(provider: FakeProvider, folder: Path) -> AsyncIterator[httpx2.AsyncClient]:
    environment = {"AGENT": command_of("model_agent.py"), **provider.environment()}
    async with (
        serve_example("web_service:app", cwd=folder, **environment) as url,
        httpx2.AsyncClient(base_url=url, timeout=None) as client,
    ):
        yield client


async def read_events(response: httpx2.Response) -> AsyncIterator[dict[str, Any]]:
    assert response.status_code == 200
    async for line in response.aiter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


async def test_a_turn_is_streamed_and_its_permission_request_is_answered_over_http(
    provider: FakeProvider, tmp_path: Path
) -> None:
    async with web_service(provider, tmp_path) as client:
        session = (await client.post("/sessions")).json()["id"]
        provider.says(Calls("write_file", {"path": "a.txt", "text": "new"}))
        provider.says(Says("Done", "."))
        events = []
        async with client.stream("POST", f"/sessions/{session}/prompts", json={"text": "Write a.txt."}) as response:
            async for event in read_events(response):
                events.append(event)
                if event["type"] == "permission":
                    assert (tmp_path / "a.txt").exists() is False
                    busy = await client.post(f"/sessions/{session}/prompts", json={"text": "And b.txt."})
                    answered = await client.post(f"/permissions/{event['id']}", json={"option": "allow_once"})
        late = await client.post("/permissions/1", json={"option": "allow_once"})
        unknown = await client.post("/sessions/nobody/prompts", json={"text": "hello"})

    (asked,) = [event for event in events if event["type"] == "permission"]
    assert (asked["id"], asked["title"], "allow_once" in asked["options"]) == (1, "Write a.txt", True)
    assert "".join(event["text"] for event in events if event["type"] == "text") == "Done."
    assert [event["status"] for event in events if event["type"] == "tool"][-1] == "completed"
    assert events[-1] == {"type": "end", "stop_reason": "end_turn"}
    assert (tmp_path / "a.txt").read_text() == "new"
    assert "The session is busy." in busy.text
    assert (answered.status_code, late.status_code, unknown.status_code) == (204, 404, 404)


async def test_hanging_up_cancels_the_turn_but_not_the_session(provider: FakeProvider, tmp_path: Path) -> None:
    async with web_service(provider, tmp_path) as client:
        session = (await client.post("/sessions")).json()["id"]
        provider.says(Says("One, "), Holds())
        async with client.stream("POST", f"/sessions/{session}/prompts", json={"text": "Count."}) as response:
            events = read_events(response)
            first = await anext(events)
        await provider.asked[0].gone.wait()

        provider.refuses(401, "bad key")
        failed = await client.post(f"/sessions/{session}/prompts", json={"text": "Go on."})
        again = await client.post(f"/sessions/{session}/prompts", json={"text": "Hello?"})

    assert first == {"type": "text", "text": "One, "}
    assert '"type": "error"' in failed.text and "bad key" in failed.text
    assert '"text": "Hello."' in again.text


# -- slack_bot.py


@asynccontextmanager
async def slack_bot(provider: FakeProvider, folder: Path) -> AsyncIterator[FakeSlack]:
    environment = {"AGENT": command_of("model_agent.py"), **provider.environment()}
    async with (
        FakeSlack() as slack,
        serve_example("slack_bot:app", cwd=folder, **environment, **slack.environment) as slack.bot,
    ):
        yield slack


async def test_a_button_allows_a_change_and_only_its_user_can_press_it(provider: FakeProvider, tmp_path: Path) -> None:
    async with slack_bot(provider, tmp_path) as slack:
        provider.says(Calls("write_file", {"path": "a.txt", "text": "new"}))
        provider.says(Says("Done & <!everyone> knows."))
        await slack.send("U-ada", "Write a.txt.", ts="1.1")
        asked = await slack.next_post()
        await slack.press("U-bob", asked, "Allow")
        assert not (tmp_path / "a.txt").exists()
        await slack.press("U-ada", asked, "Allow")
        updated = await slack.next_post("chat.update")
        answer = await slack.next_post()
        await slack.press("U-ada", asked, "Allow")  # too late, and harmless

        provider.says(Says("You're welcome."))
        await slack.send("U-ada", "Thanks.", ts="1.2", thread_ts="1.1")
        second = await slack.next_post()

    assert (asked["channel"], asked["thread_ts"], asked["text"]) == ("C1", "1.1", "Write a.txt")
    assert (updated["text"], updated["blocks"]) == ("Write a.txt: Allow", [])
    assert (tmp_path / "a.txt").read_text() == "new"
    assert (answer["thread_ts"], answer["text"]) == ("1.1", "Done &amp; &lt;!everyone&gt; knows.")
    assert (second["thread_ts"], second["text"]) == ("1.1", "You're welcome.")
    assert "Write a.txt." in str(provider.asked[-1].body), "the thread has no memory"


async def test_many_users_have_a_session_each_at_the_same_time(provider: FakeProvider, tmp_path: Path) -> None:
    users = [f"U{number}" for number in range(5)]
    async with slack_bot(provider, tmp_path) as slack:
        for user in users:
            provider.says(Calls("write_file", {"path": "shared.txt", "text": "x"}))
            await slack.send(user, f"I am {user}.", ts=f"{user}.0")
        asked = [await slack.next_post() for _ in users]  # all of them wait for their users
        for post in asked:
            provider.says(Says("As you wish."))
            await slack.press(post["thread_ts"].removesuffix(".0"), post, "Reject")
        posts = [await slack.posted.get() for _ in range(2 * len(users))]

    answers = {body["thread_ts"]: body["text"] for method, body in posts if method == "chat.postMessage"}
    assert answers == {f"{user}.0": "As you wish." for user in users}
    conversations = [str(request.body) for request in provider.asked[-len(users) :]]
    assert all(sum(f"I am {user}." in body for user in users) == 1 for body in conversations)
    assert not (tmp_path / "shared.txt").exists()


async def test_only_requests_that_slack_signed_are_read(provider: FakeProvider, tmp_path: Path) -> None:
    challenge = json.dumps({"type": "url_verification", "challenge": "abc"}).encode()
    async with slack_bot(provider, tmp_path) as slack:
        signed = await slack.deliver("events", challenge)
        forged = await slack.deliver("events", challenge, secret="guessed")
        old = await slack.deliver("events", challenge, sent=1000.0)
        await slack.deliver_event({"type": "message", "channel": "C1", "bot_id": "B1", "text": "mine", "ts": "1.0"})
        provider.refuses(401, "bad key")
        await slack.send("U1", "hello", ts="2.0")
        sorry = await slack.next_post()

    assert signed.json() == {"challenge": "abc"}
    assert (forged.status_code, old.status_code) == (401, 401)
    assert sorry["text"].startswith("Sorry: ") and "bad key" in sorry["text"]
    assert len(provider.asked) == 1
