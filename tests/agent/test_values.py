"""Values from an author that the protocol can't express: repaired, or rejected at the call. The turn ends."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from support.link import Link, script_agent

from accord import (
    Agent,
    InvalidValue,
    Location,
    Notice,
    PermissionOption,
    PlanEntry,
    RequestFailed,
    Resource,
    ResourceLink,
    Tokens,
    Turn,
    Usage,
    connect,
)
from accord.model.content import Annotations, ResourceContents, TextContent
from accord.model.session import Choice, Command, Option, Subagent
from accord.testing import ScriptedAgent, ScriptedClient, wire_client

CAFE = os.fsdecode(b"caf\xe9")  # as os.listdir gives the name of a file that is not UTF-8
SURROGATE_TEXT = "caf\ufffd"


def nest(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("no words for it")


UNSPEAKABLE: dict[str, Any] = {
    "more digits than Python writes": 10**5000,
    "nested too deeply": nest(100_000),
    "a __repr__ that fails": Unspeakable(),
}


# -- lone surrogates


async def test_text_with_lone_surrogates_is_sent_with_a_replacement_character(link: Link) -> None:
    async def work(turn: Turn) -> None:
        await turn.say(CAFE)
        await turn.say("!", meta={CAFE: CAFE})
        await turn.say(TextContent(CAFE))
        async with turn.tool(CAFE, raw_input={"name": CAFE}) as tool:
            await tool.show(CAFE)
            await tool.show("and more")
        await turn.set_title(CAFE)
        await turn.usage(1, 2, meta={"name": CAFE})

    async with link(script_agent(work)) as client:
        session = await client.new_session()
        turn = await session.prompt("go")

    (call,) = turn.tool_calls
    assert turn.text == f"{SURROGATE_TEXT}!{SURROGATE_TEXT}"
    assert (call.title, call.status, call.raw_input) == (SURROGATE_TEXT, "completed", {"name": SURROGATE_TEXT})
    assert call.content == [TextContent(SURROGATE_TEXT), TextContent("and more")]
    assert session.title == SURROGATE_TEXT


async def test_terminal_output_need_not_be_unicode(link: Link) -> None:
    async def work(turn: Turn) -> None:
        terminal = turn.display_terminal("ls")
        async with turn.tool("List") as tool:
            await tool.show(terminal)
            await terminal.write(f"{CAFE}\n")
            await terminal.exit(0)

    async with link(script_agent(work)) as client:
        turn = await (await client.new_session()).prompt("go")

    assert [call.status for call in turn.tool_calls] == ["completed"]


# -- what has no form in JSON


async def test_a_call_that_cannot_be_ended_in_this_way_is_ended_as_failed(link: Link) -> None:
    async def work(turn: Turn) -> None:
        try:
            async with turn.tool("Look") as tool:
                await tool.complete(object())
        except InvalidValue as error:
            await turn.say(str(error))

    async with link(script_agent(work)) as client:
        turn = await (await client.new_session()).prompt("go")

    assert [call.status for call in turn.tool_calls] == ["failed"]
    assert turn.text == "raw_output: an object can't be sent as JSON"


async def test_a_call_that_could_not_be_ended_can_be_ended_otherwise(link: Link) -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("Look") as tool:
            for wrong in (object(), nest(100_000)):
                with pytest.raises(InvalidValue):
                    await tool.complete(wrong)
            with pytest.raises(InvalidValue):
                await tool.show(object())
            with pytest.raises(InvalidValue):
                await tool.show(TextContent("x", meta={"a": object()}))
            await tool.show("found")

    async with link(script_agent(work)) as client:
        turn = await (await client.new_session()).prompt("go")

    (call,) = turn.tool_calls
    assert (call.status, call.content) == ("completed", [TextContent("found")])


async def test_a_call_that_cannot_be_announced_leaves_nothing_open(link: Link) -> None:
    async def work(turn: Turn) -> None:
        with pytest.raises(InvalidValue, match=r"raw_input\.path"):
            async with turn.tool("Look", raw_input={"path": Path("/x")}):
                pass
        assert not turn.session.open_tools

    async with link(script_agent(work)) as client:
        turn = await (await client.new_session()).prompt("go")

    assert turn.tool_calls == []


async def test_what_cannot_be_said_changes_nothing(link: Link) -> None:
    unsayable = {"a": object()}

    async def work(turn: Turn) -> None:
        session = turn.session
        await session.set_title("Before")
        await session.set_commands([Command(name="one", description="1")])
        await session.set_options([Option(id="a", name="A", value=True)])
        for wrong in (
            lambda: session.set_title("After", meta=unsayable),
            lambda: session.set_commands([Command(name="two", description=object())]),  # type: ignore[arg-type]
            lambda: session.set_options([Option(id="b", name=object(), value=True)]),  # type: ignore[arg-type]
        ):
            with pytest.raises(InvalidValue):
                await wrong()
        told = (session.title, [each.name for each in session.commands], [each.id for each in session.options])
        assert told == ("Before", ["one"], ["a"])

    async with link(script_agent(work)) as client:
        session = await client.new_session()
        turn = await session.prompt("go")

    assert turn.stop_reason == "end_turn"
    assert (session.title, [each.id for each in session.options]) == ("Before", ["a"])


# -- how a turn ends


class Ending(Agent):
    """Ends its first turn as the test says, and greets in the others."""

    def __init__(self, end: Any) -> None:
        self._end = end

    async def prompt(self, turn: Turn) -> Any:
        if turn.text != "go":
            await turn.say("hello")
            return None
        return self._end(turn)


def fails_with(error: BaseException) -> Any:
    def end(turn: Turn) -> None:
        raise error

    return end


def counts(tokens: Any) -> Any:
    def end(turn: Turn) -> None:
        turn.tokens = tokens

    return end


ENDS: dict[str, Any] = {
    "data": fails_with(RequestFailed("no", data={"path": Path("/x")})),
    "deep data": fails_with(RequestFailed("no", data=nest(100_000))),
    "message": fails_with(RequestFailed(CAFE)),
    "error": fails_with(FileNotFoundError(CAFE)),
    "surrogate": lambda turn: CAFE,
    "number": lambda turn: 5,
    "true": lambda turn: True,
    "false": lambda turn: False,
    "word": lambda turn: "zzz",
    **{name: lambda turn, value=value: value for name, value in UNSPEAKABLE.items()},
    **{f"as a message: {name}": fails_with(RequestFailed(value)) for name, value in UNSPEAKABLE.items()},
    "no ordinary exception": fails_with(pytest.fail.Exception("as pytest's fail and skip raise it")),
    "tokens": counts("x"),
    "tokens that cannot be described": counts(Unspeakable()),
    "negative tokens": counts(Tokens(total=-1, input=0, output=0)),
}


@pytest.mark.req("V2-PROMPT-14", "V2-EXT-02")
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
async def test_a_turn_whose_result_cannot_be_sent_ends_with_an_error(link: Link, end: Any) -> None:
    async with link(Ending(end)) as client:
        session = await client.new_session()
        with pytest.raises(RequestFailed):
            await session.prompt("go")
        following = await session.prompt("and now?")

    assert (following.text, following.stop_reason, session.busy) == ("hello", "end_turn", False)


@pytest.mark.req("V2-PROMPT-14")
async def test_a_turn_whose_metadata_cannot_be_sent_ends_with_an_error(link: Link) -> None:
    async def end(turn: Turn) -> None:
        await turn.permit("Go on?")  # in version 2 the prompt has been answered since
        turn.response_meta = {"x": object()}

    async with link(script_agent(end, end), permissions=lambda request: True) as client:
        session = await client.new_session()
        with pytest.raises(RequestFailed, match=r"meta\.x: an object can't be sent"):
            await session.prompt("go")

        assert not session.busy


async def test_a_wrong_return_value_is_named(link: Link) -> None:
    async with link(Ending(lambda turn: 5)) as client:
        with pytest.raises(RequestFailed, match=r"Ending\.prompt returned 5, which isn't a stop reason"):
            await (await client.new_session()).prompt("go")


async def test_a_stop_reason_of_ones_own_begins_with_an_underscore(link: Link) -> None:
    async with link(Ending(lambda turn: "_bored")) as client:
        turn = await (await client.new_session()).prompt("go")

    assert turn.stop_reason == ("_bored" if client.version == 2 else "end_turn")


# -- values that are not legal


def permit(kind: str) -> Any:
    return lambda turn: turn.permit("?", options=[PermissionOption(id="a", name="A", kind=kind)])


def note(**annotations: Any) -> Any:
    return lambda turn: turn.say(TextContent("x", annotations=Annotations(**annotations)))


WRONG: dict[str, tuple[Any, str]] = {
    "used": (lambda turn: turn.usage(-1, 10), "used"),
    "size": (lambda turn: turn.usage(1, -10), "size"),
    "no size": (lambda turn: turn.usage(1, 0), "size"),
    "a fraction": (lambda turn: turn.usage(1.5, 10), "used"),
    "cost": (lambda turn: turn.usage(1, 10, cost=float("nan")), "cost"),
    "line": (lambda turn: turn.tool("T", locations=[Location(path="/a", line=-3)]).announce(), "location.line"),
    "kind": (lambda turn: turn.tool("T", kind="zzz").announce(), "kind"),
    "status": (lambda turn: turn.tool("T").update(status="zzz"), "status"),
    "new kind": (lambda turn: turn.tool("T").update(kind="zzz"), "kind"),
    "severity": (lambda turn: turn.notice("N", severity="zzz"), "severity"),
    "compaction": (lambda turn: turn.session.compaction("c", "zzz"), "status"),
    "priority of a step": (lambda turn: turn.plan([PlanEntry(content="x", priority="zzz")]), "entries[0].priority"),
    "status of a step": (lambda turn: turn.plan([PlanEntry(content="x", status="zzz")]), "entries[0].status"),
    "priority": (note(priority=7), "content.annotations.priority"),
    "audience": (note(audience=["martian"]), "content.annotations.audience"),
    "modified": (note(last_modified=5), "content.annotations.last_modified"),
    "link": (lambda turn: turn.say(ResourceLink(uri="file:///a", name="a", size=-4)), "content.size"),
    "resource": (lambda turn: turn.say(Resource(resource=ResourceContents(uri="file:///a"))), "content.resource"),
    "content": (lambda turn: turn.say(5), "content"),
    "no choices": (
        lambda turn: turn.session.set_options([Option(id="o", name="O", value="a", choices=[])]),
        "options[0].choices",
    ),
    "category": (
        lambda turn: turn.session.set_options(
            [Option(id="o", name="O", value="a", choices=[Choice(value="a", name="A")], category="zzz")]
        ),
        "options[0].category",
    ),
    "schema": (lambda turn: turn.ask("?", {"type": "array"}), "schema.type"),
    "fields": (lambda turn: turn.ask("?", {"properties": []}), "schema.properties"),
    "no schema": (lambda turn: turn.ask("?", ["a"]), "schema"),
    "url": (lambda turn: turn.ask("?", url="not a url"), "url"),
    "relative url": (lambda turn: turn.ask("?", url="/login"), "url"),
    "kind of option": (permit("zzz"), "options[0].kind"),
    "options": (lambda turn: turn.permit("?", options=[]), "options"),
    "subagent": (lambda turn: turn.session.subagent(Subagent(session_id="s", state="zzz")), "subagent.state"),
    "exit code": (lambda turn: turn.display_terminal("x").exit(-9), "code"),
    "output": (lambda turn: turn.display_terminal("x").write(object()), "data"),
    "whole output": (lambda turn: turn.display_terminal("x").set_output(5), "data"),
    "first line": (lambda turn: turn.files.read("a", line=-1), "line"),
    "lines": (lambda turn: turn.files.read("a", limit=-1), "limit"),
    "title": (lambda turn: turn.set_title(5), "title"),
}


@pytest.mark.req("V2-EXT-02", "V1-CONF-08")
@pytest.mark.parametrize("call, argument", WRONG.values(), ids=WRONG.keys())
async def test_a_value_that_is_not_legal_is_refused_at_the_call(link: Link, call: Any, argument: str) -> None:
    found: list[InvalidValue] = []

    async def work(turn: Turn) -> None:
        try:
            await call(turn)
        except InvalidValue as error:
            found.append(error)

    async with link(script_agent(work), elicitation=lambda question: None) as client:
        turn = await (await client.new_session()).prompt("go")

    (error,) = found
    assert (error.argument, turn.stop_reason, turn.text) == (argument, "end_turn", "")
    assert isinstance(error, ValueError) and str(error).startswith(argument)


async def test_words_of_ones_own_that_begin_with_an_underscore_are_sent(link: Link) -> None:
    async def work(turn: Turn) -> None:
        await turn.notice("N", severity="_mine")
        async with turn.tool("T", kind="_mine") as tool:
            await tool.update(status="_mine")

    async with link(script_agent(work)) as client:
        session = await client.new_session()
        turn = await session.prompt("go")

    assert turn.stop_reason == "end_turn"
    assert [each.severity for each in session.transcript.timeline if isinstance(each, Notice)] == ["_mine"]


async def test_version_1_has_no_kinds_of_options_of_ones_own() -> None:
    async def work(turn: Turn) -> None:
        with pytest.raises(InvalidValue, match="version 1 has only allow_always"):
            await permit("_mine")(turn)

    async with wire_client(ScriptedAgent([work])) as client:
        await client.call("initialize", {"protocolVersion": 1})
        session = (await client.call("session/new", {"cwd": "/", "mcpServers": []}))["result"]["sessionId"]
        prompt = [{"type": "text", "text": "go"}]
        answer = await client.call("session/prompt", {"sessionId": session, "prompt": prompt})

    assert answer["result"] == {"stopReason": "end_turn"}
    assert not [each for each in client.received if each.get("method") == "session/request_permission"]


@pytest.mark.parametrize("use", [lambda files: files.read(CAFE), lambda files: files.write(CAFE, "")])
async def test_a_file_that_cannot_be_named_to_the_client_is_refused(use: Any) -> None:
    """With a character replaced it would be another file."""

    async def work(turn: Turn) -> None:
        with pytest.raises(InvalidValue, match=r"path is .* which isn't valid Unicode"):
            await use(turn.files)

    script = ScriptedClient(files={})
    async with connect(script_agent(work), workspace=script) as client:
        turn = await (await client.new_session()).prompt("go")

    assert (turn.stop_reason, script.files) == ("end_turn", {})


def test_options_of_the_class_are_checked_when_it_is_created() -> None:
    with pytest.raises(InvalidValue, match=r"Odd\.options\[0\]\.choices is empty"):

        class Odd(ScriptedAgent):
            options = (Option(id="o", name="O", value="a"),)


async def test_options_that_change_later_are_checked_when_a_session_begins(link: Link) -> None:
    agent = ScriptedAgent([])
    async with link(agent) as client:
        agent.options = (Option(id="o", name="O", value="a"),)
        with pytest.raises(RequestFailed, match=r"Agent\.options\[0\]\.choices is empty"):
            await client.new_session()


async def test_line_0_means_no_line(link: Link) -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("T", locations=[Location(path="/a", line=0), "/b:0", "/c:1"]):
            pass

    async with link(script_agent(work)) as client:
        turn = await (await client.new_session()).prompt("go")

    assert [place.line for place in turn.tool_calls[0].locations] == [None, None, 1]


async def test_usage_that_is_legal_arrives(link: Link) -> None:
    async def work(turn: Turn) -> None:
        await turn.usage(0, 10, cost=1)

    async with link(script_agent(work)) as client:
        turn = await (await client.new_session()).prompt("go")

    assert isinstance(turn.usage, Usage) and (turn.usage.used, turn.usage.size) == (0, 10)


# -- values that cannot even be described


@pytest.mark.parametrize("value", UNSPEAKABLE.values(), ids=UNSPEAKABLE.keys())
async def test_an_error_names_the_argument_whatever_its_value(link: Link, value: Any) -> None:
    errors: list[InvalidValue] = []

    async def work(turn: Turn) -> None:
        for call in (
            lambda: turn.say(value),
            lambda: turn.usage(value, 1),
            lambda: turn.usage(1, 2, cost=value),
            lambda: turn.set_title(value),
            lambda: turn.session.set_background(value),
            lambda: turn.session.set_background([value]),
        ):
            with pytest.raises(InvalidValue) as caught:
                await call()
            errors.append(caught.value)

    async with link(script_agent(work)) as client:
        await (await client.new_session()).prompt("go")

    assert [error.argument for error in errors] == ["content", "used", "cost", "title", "work", "work[0]"]


async def test_background_work_that_makes_no_sense_changes_nothing(link: Link) -> None:
    async def work(turn: Turn) -> None:
        for wrong in ("terminal", [("terminal",)], [("made up", "t")], [("terminal", 7)]):
            with pytest.raises(InvalidValue, match="work"):
                turn.session.set_background(wrong)  # type: ignore[arg-type]
        await turn.say("and on")

    async with link(script_agent(work)) as client:
        turn = await (await client.new_session()).prompt("go")

    assert turn.text == "and on"
