"""The order of the timeline: where items appear, and the methods that rearrange it."""

from __future__ import annotations

from accord.model.content import TextContent
from accord.model.session import Subagent
from accord.model.tool import Terminal
from accord.transcript.message import Message
from accord.transcript.transcript import Transcript


def order(transcript: Transcript) -> list[str]:
    """The timeline from top to bottom."""
    return [
        item.session_id if isinstance(item, Subagent) else item.text if isinstance(item, Message) else "?"
        for item in transcript.timeline
    ]


def say(transcript: Transcript, text: str) -> None:
    transcript.add_message("agent", [TextContent(text)])


def prompt(transcript: Transcript, text: str, place: int | None = None) -> None:
    transcript.add_message("user", [TextContent(text)], place=place)


def test_a_subagent_is_listed_where_it_was_first_mentioned() -> None:
    transcript = Transcript()
    transcript.patch_subagent("first")
    say(transcript, "hello")
    transcript.patch_subagent("second", state="running")
    transcript.patch_subagent("third")
    say(transcript, "well")
    transcript.patch_subagent("second", state="idle")
    assert order(transcript) == ["first", "hello", "second", "third", "well"]


def test_a_message_can_be_added_where_it_was_sent() -> None:
    transcript = Transcript()
    say(transcript, "one")
    say(transcript, "three")
    prompt(transcript, "two", place=1)
    assert order(transcript) == ["one", "two", "three"]


def test_a_withdrawn_prompt_is_the_first_one_from_its_place_on() -> None:
    transcript = Transcript()
    prompt(transcript, "done")
    say(transcript, "yes")
    prompt(transcript, "not started")
    prompt(transcript, "next")
    transcript.withdraw_prompt(1)
    assert order(transcript) == ["done", "yes", "next"]
    assert {message.text for message in transcript.messages.values()} == {"done", "yes", "next"}


def test_withdrawing_a_prompt_that_is_not_there_changes_nothing() -> None:
    transcript = Transcript()
    prompt(transcript, "done")
    transcript.withdraw_prompt(1)
    assert order(transcript) == ["done"]


def test_text_after_a_withdrawn_prompt_does_not_continue_it() -> None:
    transcript = Transcript()
    transcript.append_text("user", None, "not started")
    transcript.withdraw_prompt(0)
    transcript.append_text("user", None, "new")
    assert order(transcript) == ["new"]


def test_a_session_that_continues_another_shows_its_items_above() -> None:
    earlier = Transcript()
    prompt(earlier, "hello")
    earlier.set_terminal(Terminal(id="t", chunks=[b"out"]))
    transcript = Transcript()
    transcript.prepend(earlier)
    say(transcript, "again")
    assert order(transcript) == ["hello", "again"]
    assert transcript.terminals["t"].text == "out"
    say(earlier, "late")
    assert order(transcript) == ["hello", "again"], "what happens to the earlier one doesn't show"


def test_a_session_that_has_messages_stays_as_it_is() -> None:
    earlier, transcript = Transcript(), Transcript()
    say(earlier, "hello")
    say(transcript, "replayed")
    transcript.prepend(earlier)
    transcript.prepend(transcript)
    assert order(transcript) == ["replayed"]


def test_a_subagent_of_both_sessions_stays_where_the_earlier_one_has_it() -> None:
    earlier = Transcript()
    say(earlier, "hello")
    earlier.patch_subagent("known", state="running")
    say(earlier, "well")

    transcript = Transcript()
    transcript.patch_subagent("known", state="idle")
    transcript.patch_subagent("new")
    transcript.prepend(earlier)
    assert order(transcript) == ["hello", "known", "well", "new"]
    assert transcript.timeline[1] is transcript.subagents["known"]


def test_a_copy_does_not_grow_with_its_original() -> None:
    transcript = Transcript()
    say(transcript, "hello")
    twin = transcript.copy()
    say(transcript, "well")
    transcript.patch_terminal("t")
    assert order(twin) == ["hello"] and not twin.terminals
