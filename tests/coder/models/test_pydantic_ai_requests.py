"""Requests to each provider: the history, the tools and the settings, as they arrive there."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from coder.models.provider_client import connect_model, every_wire, read_end, request, their_warnings, user_message
from coder.providers.script import Calls, Says, Thinks
from coder.providers.server import FakeProvider

from accord.coder.history import Call, Message, ModelSaid, Result, Summary, Text, Thought, ToolsSaid, UserSaid
from accord.model.content import Audio, Image, Resource, ResourceContents, ResourceLink, TextContent

pytestmark = their_warnings
PIXEL = "iVBORw0KGgo="


async def send_request(wire: str, *messages: Message, model: dict[str, Any] | None = None, **fields: Any) -> Any:
    """Return the body of a request as the provider receives it."""
    async with FakeProvider() as fake, connect_model(fake, wire, **(model or {})) as asking:
        await read_end(asking, request(*messages, **fields))
        return fake.asked[0].body


@every_wire
async def test_instructions_tools_and_the_prompt_arrive(wire: str) -> None:
    body = json.dumps(await send_request(wire, user_message("What is here?"), instructions="Speak like a sailor."))
    assert "Speak like a sailor." in body
    assert "What is here?" in body
    assert '"read_file"' in body
    assert '"Reads a file."' in body
    assert '"path"' in body


@every_wire
async def test_the_key_arrives_where_the_provider_looks_for_it(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire, headers={"x-team": "blue"}) as model:
        await read_end(model)
        headers = fake.asked[0].headers
    place = "x-goog-api-key" if wire == "google" else "authorization"
    assert headers[place].removeprefix("Bearer ") == "secret-key-of-mine"
    assert headers["x-team"] == "blue"


@every_wire
async def test_a_call_and_its_result_go_back_in_the_next_request(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(
            Thinks("I must look.", signature="seal-1"),
            Calls("read_file", {"path": "a.py"}, id="c1"),
            Calls("read_file", {"path": "b.py"}, id="c2"),
        )
        first = await read_end(model, request(user_message("Look.")))
        results = [
            Result(id="c1", name="read_file", text="the text of a"),
            Result(id="c2", name="read_file", text="there is no b.py", failed=True),
        ]
        fake.says(Says("Done."))
        second = await read_end(model, request(user_message("Look."), first.message, ToolsSaid(results=results)))
        body = fake.asked[1].body
    assert second.message.text == "Done."
    if wire == "anthropic":
        user, assistant, back = body["messages"]
        assert user["role"] == "user"
        thought, *calls = assistant["content"]
        assert (thought["type"], thought["thinking"], thought["signature"]) == ("thinking", "I must look.", "seal-1")
        assert [(call["id"], call["name"], call["input"]) for call in calls] == [
            ("c1", "read_file", {"path": "a.py"}),
            ("c2", "read_file", {"path": "b.py"}),
        ]
        assert [(each["tool_use_id"], each["is_error"]) for each in back["content"]] == [("c1", False), ("c2", True)]
        assert "the text of a" in json.dumps(back)
    elif wire == "openrouter":
        messages = [each for each in body["messages"] if each["role"] in ("assistant", "tool")]
        (detail,) = messages[0]["reasoning_details"]
        assert (detail["text"], detail["signature"]) == ("I must look.", "seal-1")
        assert [each["tool_call_id"] for each in messages[1:]] == ["c1", "c2"]
    elif wire == "chat":
        messages = [each for each in body["messages"] if each["role"] in ("assistant", "tool")]
        assert messages[0]["reasoning_content"] == "I must look."
        assert [call["id"] for call in messages[0]["tool_calls"]] == ["c1", "c2"]
        assert json.loads(messages[0]["tool_calls"][0]["function"]["arguments"]) == {"path": "a.py"}
        assert [each["tool_call_id"] for each in messages[1:]] == ["c1", "c2"]
        assert messages[1]["content"] == "the text of a"
        assert "there is no b.py" in messages[2]["content"]
    elif wire == "responses":
        kinds = [each.get("type", each.get("role")) for each in body["input"]]
        assert kinds == [
            "user",
            "reasoning",
            "function_call",
            "function_call",
            "function_call_output",
            "function_call_output",
        ]
        assert body["input"][1]["encrypted_content"] == "seal-1"
        assert body["input"][4]["output"] == "the text of a"
        assert body["store"] is False
    else:
        _, model_said, back = body["contents"]
        calls = [part["functionCall"] for part in model_said["parts"] if "functionCall" in part]
        assert [call["args"] for call in calls] == [{"path": "a.py"}, {"path": "b.py"}]
        assert any(part.get("thoughtSignature") for part in model_said["parts"])
        answers = [part["functionResponse"] for part in back["parts"]]
        assert "the text of a" in json.dumps(answers[0])
        assert "there is no b.py" in json.dumps(answers[1])


@every_wire
async def test_signed_thoughts_of_another_provider_are_not_sent(wire: str) -> None:
    message = ModelSaid(
        model="elsewhere:m",
        parts=[
            Thought(text="secret musing", extra={"id": "rs_9", "signature": "their-seal"}),
            Text(text="I look.", extra={"id": "msg_9"}),
            Call(id="c1", name="read_file", arguments={"path": "a"}, extra={"id": "fc_9"}),
        ],
    )
    results = ToolsSaid(results=[Result(id="c1", name="read_file", text="fine")])
    body = json.dumps(await send_request(wire, user_message("Go."), message, results))
    assert "I look." in body
    assert "fine" in body
    for word in ("secret musing", "their-seal", "rs_9", "msg_9", "fc_9"):
        assert word not in body


@every_wire
async def test_a_summary_replaces_everything_before_it(wire: str) -> None:
    history = [
        user_message("Old question"),
        ModelSaid(parts=[Text(text="Old answer")]),
        Summary(text="They greeted."),
        user_message("Go on"),
    ]
    body = json.dumps(await send_request(wire, *history))
    assert "Old" not in body
    assert "They greeted." in body
    assert "Go on" in body


@every_wire
async def test_attachments_of_a_prompt_arrive_as_text(wire: str) -> None:
    prompt = UserSaid(
        content=[
            TextContent("Compare."),
            ResourceLink(uri="file:///p/a.py", name="a.py", description="the old one"),
            Resource.of("file:///p/b.py", "print('b')"),
            Resource(resource=ResourceContents(uri="file:///p/c.bin", blob="AAAA", mime_type="application/zip")),
            Audio(data="AAAA", mime_type="audio/wav"),
        ]
    )
    body = json.dumps(await send_request(wire, prompt))
    assert "[a.py](file:///p/a.py): the old one" in body
    assert "file:///p/b.py" in body
    assert "print('b')" in body
    assert "file:///p/c.bin: a file of type application/zip, not shown" in body
    assert "audio (audio/wav) that this model can't hear" in body


@every_wire
async def test_a_model_that_supports_images_gets_the_image(wire: str) -> None:
    prompt = UserSaid(content=[TextContent("What is it?"), Image(data=PIXEL, mime_type="image/png")])
    body = json.dumps(await send_request(wire, prompt, model={"images": True}))
    assert PIXEL in body
    assert "image/png" in body


@every_wire
async def test_a_model_without_vision_gets_a_note_about_an_image(wire: str) -> None:
    prompt = UserSaid(content=[TextContent("What is it?"), Image(data=PIXEL, mime_type="image/png")])
    body = json.dumps(await send_request(wire, prompt, model={"images": False}))
    assert PIXEL not in body
    assert "an image (image/png) that this model can't see" in body


@every_wire
async def test_the_image_of_a_tool_result_arrives_with_its_text(wire: str) -> None:
    call = ModelSaid(parts=[Call(id="c1", name="read_file", arguments={})])
    result = Result(id="c1", name="read_file", text="here it is", images=[Image(data=PIXEL, mime_type="image/png")])
    body = json.dumps(
        await send_request(wire, user_message("Go"), call, ToolsSaid(results=[result]), model={"images": True})
    )
    assert "here it is" in body
    assert PIXEL in body


@every_wire
async def test_a_damaged_image_is_reported(wire: str) -> None:
    prompt = UserSaid(content=[Image(data="A", mime_type="image/png")])
    body = json.dumps(await send_request(wire, prompt, model={"images": True}))
    assert "with invalid data" in body


@every_wire
async def test_a_prompt_inserted_after_tool_results_arrives_after_them(wire: str) -> None:
    call = ModelSaid(parts=[Call(id="c1", name="read_file", arguments={"path": "a"})])
    results = ToolsSaid(results=[Result(id="c1", name="read_file", text="the result")])
    body = json.dumps(await send_request(wire, user_message("Go"), call, results, user_message("No, wait.")))
    assert body.index("the result") < body.index("No, wait.")


@every_wire
async def test_invalid_arguments_do_not_prevent_the_next_request(wire: str) -> None:
    call = Call(id="c1", name="read_file", arguments={}, fault="no JSON", extra={"raw": '{"path'})
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        history = [user_message("Go"), ModelSaid(parts=[call], model=model.id)]
        results = ToolsSaid(results=[Result(id="c1", name="read_file", text="no JSON", failed=True)])
        assert (await read_end(model, request(*history, results))).reason == "end"


@every_wire
async def test_an_answer_without_parts_is_skipped(wire: str) -> None:
    body = json.dumps(await send_request(wire, user_message("One"), ModelSaid(parts=[]), user_message("Two")))
    assert "One" in body
    assert "Two" in body


@pytest.mark.parametrize(
    ("wire", "mark"),
    [
        ("anthropic", '"effort": "high"'),
        ("responses", '"effort": "high"'),
        ("google", '"thinking_level": "HIGH"'),
    ],
)
async def test_the_effort_is_sent_in_the_providers_format(wire: str, mark: str) -> None:
    assert mark.lower() in json.dumps(await send_request(wire, effort="high")).lower()


@every_wire
async def test_an_unsupported_effort_is_not_sent(wire: str) -> None:
    assert "utmost" not in json.dumps(await send_request(wire, effort="utmost"))


@every_wire
async def test_the_limit_of_the_answer_is_sent(wire: str) -> None:
    assert "4321" in json.dumps(await send_request(wire, max_tokens=4321))


async def test_anthropic_is_asked_to_cache_the_prefix() -> None:
    body = await send_request("anthropic")
    assert body["tools"][-1]["cache_control"]["type"] == "ephemeral"
    assert body["system"][-1]["cache_control"]["type"] == "ephemeral"
    assert "cache_control" in body or "cache_control" in json.dumps(body["messages"])


@every_wire
async def test_the_schema_of_a_tool_arrives_as_it_was_written(wire: str) -> None:
    body = json.dumps(await send_request(wire))
    assert '"required": ["path"]' in body
    assert '"additionalProperties"' not in body


@every_wire
async def test_names_of_tools_that_providers_reject_go_back_in_a_form_that_they_accept(wire: str) -> None:
    said = ModelSaid(parts=[Call(id="c1", name="functions.read_file<|x|>", arguments={})], model="anthropic:any")
    answered = ToolsSaid(results=[Result(id="c1", name="functions.read_file<|x|>", text="unknown tool", failed=True)])
    body = json.dumps(await send_request(wire, user_message("Look."), said, answered))
    assert "functions.read_file" not in body
    assert '"functions_read_file_x"' in body


@every_wire
async def test_ids_of_another_providers_calls_are_replaced_if_they_have_other_characters(wire: str) -> None:
    said = ModelSaid(parts=[Call(id="functions.read_file:0", name="read_file", arguments={})], model="other:kimi")
    answered = ToolsSaid(results=[Result(id="functions.read_file:0", name="read_file", text="found")])
    body = json.dumps(await send_request(wire, user_message("Look."), said, answered))
    assert "functions.read_file:0" not in body
    assert len(re.findall(r'"call_[0-9a-f]{16}"', body)) == 2


async def test_two_prompts_in_a_row_are_one_message() -> None:
    body = await send_request("chat", user_message("First."), user_message("Second."))
    _, user = body["messages"]
    assert [piece["text"] for piece in user["content"]] == ["First.", "Second."]


@pytest.mark.parametrize(("name", "roles"), [("devstral-small", ["assistant", "user"]), ("qwen3-coder", ["user"])])
async def test_a_prompt_after_a_tools_result_suits_the_templates_of_mistral(name: str, roles: list[str]) -> None:
    said = ModelSaid(parts=[Call(id="c1", name="read_file", arguments={})], model=f"vllm:{name}")
    answered = ToolsSaid(results=[Result(id="c1", name="read_file", text="cancelled", failed=True)])
    body = await send_request(
        "chat", user_message("Look."), said, answered, user_message("Go on."), model={"name": name}
    )
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "tool", *roles]
