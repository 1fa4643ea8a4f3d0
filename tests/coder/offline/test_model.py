"""The offline model in a session: an accurate plan, no step after a failure, and no state except the history."""

from __future__ import annotations

import itertools
from contextlib import aclosing

import pytest
from coder.offline.offline_session import LOOKING, Outcome, Talk, failure, hits, list_calls, names, plan, ran

from accord.coder.history import Call, ModelSaid, Result, Summary, Text, ToolsSaid, UserSaid
from accord.coder.models.base import Ended, SaidPiece
from accord.coder.offline.model import OfflineModel
from accord.coder.offline.summary import summarize
from accord.model.content import Content, Resource, ResourceLink, TextContent

HIT = hits("a.py:3:x = 1")


async def test_one_request_is_one_call_and_then_text() -> None:
    talk = Talk()
    first = await talk.ask("list files in src")
    assert list_calls(first, plans=True) == [("list_files", {"path": "src", "depth": 1})]
    last = await talk.tools_say(names("a.py", "lib/"))
    assert last.calls == []
    assert last.text.startswith("There are 1 file and 1 directory in `src`")
    await talk.ask("list files in src")
    assert (await talk.tools_say(names("a.py"))).text.startswith("There is 1 file in `src`")


async def test_the_answer_ends_with_its_reason() -> None:
    talk = Talk()
    await talk.ask("list files")
    assert isinstance(talk.pieces[-1], Ended)
    assert talk.pieces[-1].reason == "calls"
    await talk.tools_say(names("a.py"))
    assert isinstance(talk.pieces[-1], Ended)
    assert talk.pieces[-1].reason == "end"


async def test_the_same_history_gets_the_same_answer_ids_included() -> None:
    answers = []
    for _ in range(2):
        talk = Talk()
        await talk.ask("list files then read a.py and b.py")
        await talk.tools_say(names("a.py"))
        answers.append(talk.messages)
    assert answers[0] == answers[1]


async def test_calls_have_unique_ids_in_the_whole_session() -> None:
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
    assert list_calls(first) == [("list_files", {"path": ".", "depth": 1})]
    second = await talk.tools_say(names("a.py"))
    assert plan(second) == [("List the files", "completed"), ("Read a.py", "in_progress")]
    assert list_calls(second) == [("read_file", {"file_path": "a.py"})]
    third = await talk.tools_say("x = 1\n")
    assert plan(third) == [("List the files", "completed"), ("Read a.py", "completed")]
    assert list_calls(third) == []
    assert (await talk.tools_say()).text == "Both steps are done."


async def test_a_single_step_has_no_plan() -> None:
    assert [call.name for call in (await Talk().ask("read a.py")).calls] == ["read_file"]


async def test_without_the_tool_for_plans_the_steps_are_still_carried_out() -> None:
    talk = Talk(tools=frozenset({"list_files", "read_file"}))
    first = await talk.ask("list files then read a.py")
    assert list_calls(first, plans=True) == [("list_files", {"path": ".", "depth": 1})]
    assert list_calls(await talk.tools_say(names("a.py")), plans=True) == [("read_file", {"file_path": "a.py"})]
    assert (await talk.tools_say("x\n")).text.endswith("Both steps are done.")


@pytest.mark.parametrize("words", ["the user didn't allow this", "not allowed: a rule says so", "disk full"])
async def test_after_a_failure_nothing_more_is_done_and_the_remaining_steps_are_listed(words: str) -> None:
    talk = Talk()
    await talk.ask("delete a.py then list files then read b.py")
    closing = await talk.tools_say(failure(words))
    assert words in closing.text
    assert plan(closing) == [("Delete a.py", "pending"), ("List the files", "pending"), ("Read b.py", "pending")]
    last = await talk.tools_say()
    assert last.text == "0 of 3 steps are done. Not done: List the files; Read b.py."


async def test_a_failing_command_stops_the_following_steps() -> None:
    talk = Talk()
    await talk.ask("run `make` then delete a.py")
    closing = await talk.tools_say(ran(2, "no rule\n"))
    assert "failed with exit status 2" in closing.text
    assert list_calls(closing) == []


async def test_nothing_is_done_when_a_step_is_not_understood() -> None:
    said = await Talk().ask("delete a.py then sing a song")
    assert said.calls == []
    assert "step 2 of 2, “sing a song”" in said.text
    assert "Nothing was done." in said.text


async def test_the_first_miss_suggests_a_request_and_tells_how_to_set_up_a_model() -> None:
    said = await Talk().ask("fix the bug in src/app.py")
    assert said.text.startswith("That takes a language model. Try `explain src/app.py` instead (or just say `yes`).")
    assert "`accord login`" in said.text
    assert "ANTHROPIC_API_KEY" in said.text


async def test_later_misses_are_one_line() -> None:
    talk = Talk()
    await talk.ask("sing a song")
    said = await talk.ask("fix the bug in src/app.py")
    assert said.text == "That takes a language model. Try `explain src/app.py` instead (or just say `yes`)."


async def test_yes_runs_the_suggested_request() -> None:
    talk = Talk()
    await talk.ask("fix the bug in src/app.py")
    assert list_calls(await talk.ask("yes")) == [("read_file", {"file_path": "src/app.py"})]


async def test_a_suggestion_is_never_followed_without_a_yes() -> None:
    talk = Talk()
    await talk.ask("fix the bug in src/app.py")
    await talk.ask("thanks")
    assert (await talk.ask("yes")).calls == []


async def test_a_declined_permission_is_not_reported_as_a_failure() -> None:
    talk = Talk()
    await talk.ask("run `make`")
    last = await talk.tools_say(failure("the user didn't allow this", "declined"))
    assert last.text == "Not run: the permission was declined."


async def test_a_tool_that_is_not_offered_is_unknown() -> None:
    said = await Talk(tools=LOOKING).ask("delete a.py")
    assert said.calls == []
    assert "`move_or_delete`" in said.text
    assert "switch to code mode" in said.text


async def test_a_script_reads_nothing_if_the_tool_for_the_change_is_missing() -> None:
    said = await Talk(tools=LOOKING).ask('replace "a" with "b" everywhere')
    assert said.calls == []
    assert "`edit_file`" in said.text


async def test_a_new_prompt_takes_over_and_lists_what_is_not_done() -> None:
    talk = Talk()
    await talk.ask("list files then read a.py then read b.py")
    assert isinstance(talk.messages[-1], ModelSaid)
    calls = talk.messages[-1].calls
    talk.messages.append(
        ToolsSaid(results=[Result(id=call.id, name=call.name, text="a.py", data=names("a.py").data) for call in calls])
    )
    said = await talk.ask("what changed?")
    assert "Not done: Read a.py; Read b.py" in said.text
    assert list_calls(said) == [("show_changes", {})]
    await talk.tools_say(Outcome("Nothing has changed.", {"files": [], "diff": "", "complete": True}))


async def test_of_two_prompts_at_once_the_first_is_not_forgotten() -> None:
    talk = Talk(UserSaid(content=[TextContent("read a.py")]))
    said = await talk.ask("list files")
    assert "Not done: Read a.py" in said.text
    await talk.tools_say(names("a.py"))


async def test_continue_resumes_a_request_after_a_failure() -> None:
    talk = Talk()
    await talk.ask("list files then read a.py then read b.py")
    await talk.tools_say(names("a.py"))
    await talk.tools_say(failure("locked"))
    await talk.tools_say(names())
    await talk.tools_say()
    again = await talk.ask("continue")
    assert plan(again) == [("Read a.py", "in_progress"), ("Read b.py", "pending")]
    await talk.tools_say("x\n")
    await talk.tools_say("y\n")
    assert (await talk.tools_say()).text == "Both steps are done."
    assert (await talk.ask("continue")).text == "There is nothing to continue."


async def test_continue_resumes_a_request_after_a_cancelled_turn() -> None:
    talk = Talk()
    said = await talk.ask("run `make` then list files")
    cancelled = [Result(id=call.id, name=call.name, text="This was cancelled.", failed=True) for call in said.calls]
    talk.messages.append(ToolsSaid(results=cancelled))
    again = await talk.ask("continue")
    assert list_calls(again) == [("run_command", {"command": "make"})]


async def test_a_request_started_by_another_model_is_not_continued() -> None:
    other = ModelSaid(parts=[Call(id="1", name="read_file", arguments={"file_path": "z.py"})], model="anthropic:x")
    results = ToolsSaid(results=[Result(id="1", name="read_file", text="z")])
    talk = Talk(UserSaid(content=[TextContent("list files")]), other, results)
    said = await talk.answer()
    assert said.calls == []
    assert "Please ask again" in said.text


async def test_a_request_whose_middle_was_summarized_is_not_restarted() -> None:
    talk = Talk()
    await talk.ask('append "x" to a.txt')
    said = talk.messages[-1]
    assert isinstance(said, ModelSaid)
    talk.messages.append(ToolsSaid(results=[Result(id=said.calls[0].id, name="read_file", text="a\n")]))
    shortened = Talk(Summary(text=summarize(talk.messages)), talk.messages[0])
    assert (await shortened.answer()).calls == []


async def test_a_summary_in_the_middle_of_a_request_is_nothing_but_the_summary() -> None:
    talk = Talk()
    said = await talk.ask("list files then read a.py")
    talk.messages.append(ToolsSaid(results=[Result(id=call.id, name=call.name, text="a.py") for call in said.calls]))
    expected = summarize(talk.messages)
    assert (await talk.ask("Summarize this conversation, so that the work can go on.")).text == expected


async def test_a_request_after_a_summary_is_carried_out() -> None:
    talk = Talk(Summary(text=summarize([UserSaid(content=[TextContent("hello")])])))
    assert list_calls(await talk.ask("list files")) == [("list_files", {"path": ".", "depth": 1})]


async def test_closing_the_stream_ends_it() -> None:
    talk = Talk(UserSaid(content=[TextContent("help")]))
    async with aclosing(OfflineModel().stream(talk.request())) as stream:
        assert isinstance(await anext(stream), SaidPiece)
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_four_characters_are_a_token_and_cost_nothing() -> None:
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


@pytest.mark.parametrize(("tick", "words"), [(1.0, 1), (0.02, 2), (0.0, 1000)])
async def test_text_is_batched_into_updates_by_time(tick: float, words: int) -> None:
    ticks = itertools.count()
    talk = Talk()
    talk.model = OfflineModel(clock=lambda: tick * next(ticks))
    said = await talk.ask("help")
    pieces = [piece.text for piece in talk.pieces if isinstance(piece, SaidPiece)]
    assert [len(piece.split()) for piece in pieces[:-1]] == [words] * (len(pieces) - 1)
    assert len(pieces) == -(-len(said.text.split()) // words)


async def test_an_answer_is_truncated_at_its_limit() -> None:
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


async def test_a_link_means_its_file_inside_and_beside_the_text() -> None:
    link = ResourceLink(uri="file:///p/my%20app.py", name="app")
    wanted = [("outline", {"path": "/p/my app.py"})]
    assert list_calls(await Talk().ask("outline this", link)) == wanted
    assert list_calls(await Talk().ask("outline ", link)) == wanted
    assert list_calls(await Talk().ask("outline this: ", link)) == wanted
    assert list_calls(await Talk().ask("outline this @b/c.py", link)) == [("outline", {"path": "b/c.py"})]
    assert list_calls(await Talk().ask("outline ", link, TextContent(" please"))) == wanted


NOTEBOOK = ResourceLink(uri="file:///p/nb.py", name="nb.py")
RULES = Resource.of("file:///p/marimo_rules.md", "Be tidy.\n")


@pytest.mark.parametrize("attached", [NOTEBOOK, RULES])
@pytest.mark.parametrize("space", ["", " "])
@pytest.mark.parametrize(
    ("text", "tool"), [("run rm -f build", "run_command"), ("run make", "run_command"), ('search for "TODO"', "search")]
)
async def test_an_attached_file_is_ignored_if_the_request_is_complete_without_it(
    text: str, tool: str, space: str, attached: Content
) -> None:
    alone = list_calls(await Talk().ask(text))
    assert [name for name, _ in alone] == [tool]
    assert list_calls(await Talk().ask(text + space, attached)) == alone


@pytest.mark.parametrize("attached", [NOTEBOOK, RULES])
async def test_an_attached_file_does_not_become_part_of_a_new_file(attached: Content) -> None:
    text = 'create notes.md with "A note."'
    alone, beside = Talk(), Talk()
    await alone.ask(text)
    await beside.ask(text, attached)
    absent = names()
    assert list_calls(await beside.tools_say(absent)) == list_calls(await alone.tools_say(absent))


async def test_text_blocks_are_separate_requests() -> None:
    said = await Talk().ask("run `echo a`", TextContent("list files"))
    together = await Talk().ask("run `echo a`\n\nlist files")
    assert list_calls(said) == list_calls(together)
    assert ("run_command", {"command": "echo a"}) in list_calls(said)


async def test_a_file_without_text_is_read() -> None:
    assert list_calls(await Talk().ask("", ResourceLink(uri="file:///p/a.py", name="a"))) == [
        ("read_file", {"file_path": "/p/a.py"})
    ]


async def test_it_refers_to_the_file_of_the_previous_turn() -> None:
    talk = Talk()
    await talk.ask("read src/a.py")
    await talk.tools_say("x\n")
    assert list_calls(await talk.ask("outline it")) == [("outline", {"path": "src/a.py"})]


async def test_a_history_without_a_request_gets_a_text_reply() -> None:
    said = await Talk(Summary(text="something")).answer()
    assert said.calls == []
    assert said.parts == [Text(text=said.text)]


async def test_a_file_whose_name_begins_with_a_bracket_is_a_file_and_no_note() -> None:
    talk = Talk()
    await talk.ask("list files")
    listing = names("[bold]x.txt", "[x]/")
    said = await talk.tools_say(listing._replace(text="[bold]x.txt  2 bytes\n[x]/\n[ignored by .gitignore: a.log]"))
    assert said.text == (
        "There are 1 file and 1 directory in the project:\n\n```\n[bold]x.txt  2 bytes\n[x]/\n```\n\n"
        "(ignored by .gitignore: a.log)"
    )
