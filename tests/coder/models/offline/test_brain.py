"""The offline model in a conversation: a plan kept true, no step after a failure, and nothing but the history."""

from __future__ import annotations

from contextlib import aclosing

import pytest
from coder.models.offline.talking import LOOKING, Talk, called, plan

from accord.coder.history import Call, ModelSaid, Result, Summary, Text, ToolsSaid, UserSaid
from accord.coder.models.base import Ended, SaidPiece
from accord.coder.models.offline.brain import OfflineModel
from accord.coder.models.offline.summary import summary_of
from accord.model.content import Link, Resource, TextContent

HIT = "1 line in 1 file:\na.py\n  3: x = 1"


async def test_one_request_is_one_call_and_then_words() -> None:
    talk = Talk()
    first = await talk.ask("list files in src")
    assert called(first, plans=True) == [("list_files", {"path": "src", "depth": 1})]
    last = await talk.tools_say("a.py  10 bytes\nlib/")
    assert last.calls == []
    assert last.text.startswith("There are 1 file and 1 folder in `src`")
    await talk.ask("list files in src")
    assert (await talk.tools_say("a.py  10 bytes")).text.startswith("There is 1 file in `src`")


async def test_the_answer_ends_with_its_reason() -> None:
    talk = Talk()
    await talk.ask("list files")
    assert isinstance(talk.pieces[-1], Ended)
    assert talk.pieces[-1].reason == "calls"
    await talk.tools_say("a.py  10 bytes")
    assert isinstance(talk.pieces[-1], Ended)
    assert talk.pieces[-1].reason == "end"


async def test_words_come_in_small_pieces() -> None:
    talk = Talk()
    await talk.ask("help")
    pieces = [piece for piece in talk.pieces if isinstance(piece, SaidPiece)]
    assert len(pieces) > 50
    assert max(len(piece.text) for piece in pieces) <= 60


async def test_the_same_history_gets_the_same_answer_ids_included() -> None:
    answers = []
    for _ in range(2):
        talk = Talk()
        await talk.ask("list files then read a.py and b.py")
        await talk.tools_say("a.py  10 bytes")
        answers.append(talk.messages)
    assert answers[0] == answers[1]


async def test_calls_have_ids_of_their_own_in_the_whole_session() -> None:
    talk = Talk()
    for _ in range(2):
        await talk.ask("read a.py and b.py")
        await talk.tools_say("x\n", "y\n")
    ids = [call.id for message in talk.messages if isinstance(message, ModelSaid) for call in message.calls]
    assert len(set(ids)) == 4


async def test_several_steps_begin_with_a_plan_and_keep_it_true() -> None:
    talk = Talk()
    first = await talk.ask("list files then read a.py")
    assert plan(first) == [("List the files", "in_progress"), ("Read a.py", "pending")]
    assert called(first) == [("list_files", {"path": ".", "depth": 1})]
    second = await talk.tools_say("a.py  10 bytes")
    assert plan(second) == [("List the files", "completed"), ("Read a.py", "in_progress")]
    assert called(second) == [("read_file", {"path": "a.py"})]
    third = await talk.tools_say("x = 1\n")
    assert plan(third) == [("List the files", "completed"), ("Read a.py", "completed")]
    assert called(third) == []
    assert (await talk.tools_say()).text == "Both steps are done."


async def test_a_single_step_has_no_plan() -> None:
    assert [call.name for call in (await Talk().ask("read a.py")).calls] == ["read_file"]


async def test_without_the_tool_for_plans_the_steps_are_carried_out_all_the_same() -> None:
    talk = Talk(tools=frozenset({"list_files", "read_file"}))
    first = await talk.ask("list files then read a.py")
    assert called(first, plans=True) == [("list_files", {"path": ".", "depth": 1})]
    assert called(await talk.tools_say("a.py  1 byte"), plans=True) == [("read_file", {"path": "a.py"})]
    assert (await talk.tools_say("x\n")).text.endswith("Both steps are done.")


@pytest.mark.parametrize("words", ["the user did not allow this", "not allowed: a rule says so", "disk full"])
async def test_after_a_failure_nothing_more_is_done_and_what_is_left_is_named(words: str) -> None:
    talk = Talk()
    await talk.ask("delete a.py then list files then read b.py")
    closing = await talk.tools_say((words, False))
    assert words in closing.text
    assert plan(closing) == [("Delete a.py", "pending"), ("List the files", "pending"), ("Read b.py", "pending")]
    last = await talk.tools_say()
    assert last.text == "0 of 3 steps were done. Not done: List the files; Read b.py."


async def test_a_command_that_fails_stops_what_was_to_follow() -> None:
    talk = Talk()
    await talk.ask("run `make` then delete a.py")
    closing = await talk.tools_say("[exit 2]\nno rule\n")
    assert "ended with status 2" in closing.text
    assert called(closing) == []


async def test_nothing_is_begun_when_a_step_is_not_understood() -> None:
    said = await Talk().ask("delete a.py then sing a song")
    assert said.calls == []
    assert "step 2 of 2, “sing a song”" in said.text
    assert "Nothing was done." in said.text


async def test_what_is_not_understood_is_answered_with_what_is_and_with_the_one_command() -> None:
    said = await Talk().ask("explain src/app.py to me")
    assert "no language model is configured" in said.text
    assert "`outline src/app.py`" in said.text
    assert "`accord agent login`" in said.text
    assert "ANTHROPIC_API_KEY" in said.text


async def test_a_tool_that_is_not_offered_is_said_to_be_missing() -> None:
    said = await Talk(tools=LOOKING).ask("delete a.py")
    assert said.calls == []
    assert "`delete_file`" in said.text
    assert "switch to code mode" in said.text


async def test_a_script_does_not_look_before_it_knows_that_it_may_change() -> None:
    said = await Talk(tools=LOOKING).ask('replace "a" with "b" everywhere')
    assert said.calls == []
    assert "`edit_file`" in said.text


async def test_a_prompt_in_between_takes_over_and_what_it_leaves_can_be_taken_up() -> None:
    talk = Talk()
    await talk.ask("list files then read a.py then read b.py")
    assert isinstance(talk.messages[-1], ModelSaid)
    calls = talk.messages[-1].calls
    talk.messages.append(ToolsSaid(results=[Result(id=call.id, name=call.name, text="a.py  1 byte") for call in calls]))
    said = await talk.ask("what changed?")
    assert "not done: Read a.py; Read b.py" in said.text
    assert called(said) == [("show_changes", {})]
    await talk.tools_say("On main.\nNothing has changed since the last commit.")


async def test_of_two_prompts_at_once_the_first_is_not_forgotten() -> None:
    talk = Talk(UserSaid(content=[TextContent("read a.py")]))
    said = await talk.ask("list files")
    assert "not done: Read a.py" in said.text
    await talk.tools_say("a.py  1 byte")


async def test_continue_takes_up_what_a_failure_left() -> None:
    talk = Talk()
    await talk.ask("list files then read a.py then read b.py")
    await talk.tools_say("a.py  1 byte")
    await talk.tools_say(("locked", False))
    await talk.tools_say("No file has such a name.")
    await talk.tools_say()
    again = await talk.ask("continue")
    assert plan(again) == [("Read a.py", "in_progress"), ("Read b.py", "pending")]
    await talk.tools_say("x\n")
    await talk.tools_say("y\n")
    assert (await talk.tools_say()).text == "Both steps are done."
    assert (await talk.ask("continue")).text == "There is nothing left to go on with."


async def test_continue_takes_up_what_a_cancelled_turn_left() -> None:
    talk = Talk()
    said = await talk.ask("run `make` then list files")
    cancelled = [Result(id=call.id, name=call.name, text="This was cancelled.", failed=True) for call in said.calls]
    talk.messages.append(ToolsSaid(results=cancelled))
    again = await talk.ask("continue")
    assert called(again) == [("run_command", {"command": "make"})]


async def test_what_another_model_began_is_not_taken_up_in_the_middle() -> None:
    other = ModelSaid(parts=[Call(id="1", name="read_file", arguments={"path": "z.py"})], model="anthropic:x")
    results = ToolsSaid(results=[Result(id="1", name="read_file", text="z")])
    talk = Talk(UserSaid(content=[TextContent("list files")]), other, results)
    said = await talk.answer()
    assert said.calls == []
    assert "Please ask again" in said.text


async def test_a_request_whose_middle_was_summarised_is_not_begun_again() -> None:
    talk = Talk()
    await talk.ask('append "x" to a.txt')
    said = talk.messages[-1]
    assert isinstance(said, ModelSaid)
    talk.messages.append(ToolsSaid(results=[Result(id=said.calls[0].id, name="read_file", text="a\n")]))
    shortened = Talk(Summary(text=summary_of(talk.messages)), talk.messages[0])
    assert (await shortened.answer()).calls == []


async def test_a_summary_in_the_middle_of_a_request_is_nothing_but_the_summary() -> None:
    talk = Talk()
    said = await talk.ask("list files then read a.py")
    talk.messages.append(ToolsSaid(results=[Result(id=call.id, name=call.name, text="a.py") for call in said.calls]))
    expected = summary_of(talk.messages)
    assert (await talk.ask("Summarise this conversation, so that the work can go on.")).text == expected


async def test_a_request_after_a_summary_is_carried_out() -> None:
    talk = Talk(Summary(text=summary_of([UserSaid(content=[TextContent("hello")])])))
    assert called(await talk.ask("list files")) == [("list_files", {"path": ".", "depth": 1})]


async def test_closing_the_stream_ends_it() -> None:
    talk = Talk(UserSaid(content=[TextContent("help")]))
    async with aclosing(OfflineModel().stream(talk.request())) as stream:
        assert isinstance(await anext(stream), SaidPiece)
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_four_characters_are_a_token_and_nothing_is_paid() -> None:
    talk = Talk(UserSaid(content=[TextContent("hello")]))
    await talk.answer()
    small = talk.pieces[-1]
    talk = Talk(UserSaid(content=[TextContent("hello")]), instructions="Be good." + "x" * 400)
    await talk.answer()
    large = talk.pieces[-1]
    assert isinstance(small, Ended)
    assert isinstance(large, Ended)
    assert large.spent.input - small.spent.input == 100
    assert small.spent.output > 0
    assert small.spent.cost == 0.0


async def test_an_answer_that_may_not_be_longer_is_cut_off() -> None:
    talk = Talk()
    talk.max_tokens = 5
    said = await talk.ask("help")
    ended = talk.pieces[-1]
    assert isinstance(ended, Ended)
    assert ended.reason == "length"
    assert len(said.text) == 20


async def test_an_attached_text_is_read_without_a_tool() -> None:
    said = await Talk().ask("read this", Resource.of("file:///p/a.py", "x = 1\ny = 2\n"))
    assert said.calls == []
    assert "`/p/a.py` has 2 lines" in said.text
    assert "y = 2" in said.text


async def test_a_link_stands_for_its_file_beside_the_words_and_within_them() -> None:
    link = Link(uri="file:///p/my%20app.py", name="app")
    wanted = [("outline", {"path": "/p/my app.py"})]
    assert called(await Talk().ask("outline this", link)) == wanted
    assert called(await Talk().ask("outline ", link)) == wanted
    assert called(await Talk().ask("outline this: ", link)) == wanted
    assert called(await Talk().ask("outline this @b/c.py", link)) == [("outline", {"path": "b/c.py"})]
    assert called(await Talk().ask("outline ", link, TextContent(" please"))) == wanted


async def test_a_file_without_words_is_read() -> None:
    assert called(await Talk().ask("", Link(uri="file:///p/a.py", name="a"))) == [("read_file", {"path": "/p/a.py"})]


async def test_it_is_the_file_of_the_turn_before() -> None:
    talk = Talk()
    await talk.ask("read src/a.py")
    await talk.tools_say("x\n")
    assert called(await talk.ask("outline it")) == [("outline", {"path": "src/a.py"})]


async def test_a_history_without_a_request_is_answered_in_words() -> None:
    said = await Talk(Summary(text="something")).answer()
    assert said.calls == []
    assert said.parts == [Text(text=said.text)]


async def test_a_file_whose_name_begins_with_a_bracket_is_a_file_and_no_note() -> None:
    talk = Talk()
    await talk.ask("list files")
    said = await talk.tools_say("[bold]x.txt  2 bytes\n[x]/\n[left out because of .gitignore: a.log]")
    assert said.text == (
        "There are 1 file and 1 folder in the project:\n\n```\n[bold]x.txt  2 bytes\n[x]/\n```\n\n"
        "(left out because of .gitignore: a.log)"
    )
