"""Continue a session after its agent was restarted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.model.session import Notice
from accord.terminal_text import one_line
from accord.tui.session.previous import save_session

if TYPE_CHECKING:
    from accord.transcript.transcript import Transcript
    from accord.tui.session.controller import SessionController

UNKNOWN_ABOVE = "The agent doesn't know the messages above this line."


def take_over(new: SessionController, old: SessionController) -> None:
    """Let a new controller continue where an old one ended: its transcript, prompts and timing."""
    old.unfinished.abandon(is_agent_gone=True)
    new.queue.take_over(old.queue, is_on_hold=old.queue.is_on_hold or old.turns.died_at_work)
    new.context.previous, new.origin = save_session(old), old.origin
    new.context.timing = new.unfinished.timing = old.timing


async def reopen(controller: SessionController, id: str | None) -> None:
    """Continue the session with a restarted agent if it can; otherwise open a new one below the transcript."""
    earlier, queue = controller.transcript, controller.queue
    await controller.process.ready.wait()
    agent = controller.process.agent
    if id is not None and agent is not None and (agent.offers.load or agent.offers.resume):
        await controller.open(id, "load" if agent.offers.load else "resume", earlier)
        if controller.session is not None:
            controller.say("info", "The agent was restarted and continues this session", queue.hold_notice)
            return
    # The queued prompts were meant for a session that knows the messages above.
    queue.is_on_hold = queue.is_on_hold or earlier is not None
    await controller.open(earlier=earlier)
    if controller.session is None:
        _report_failure(controller, earlier)
    elif id is not None:
        which = "the previous one" if earlier is not None else one_line(id, 60)
        details = [UNKNOWN_ABOVE if earlier is not None else "", queue.hold_notice]
        title = f"New session: the agent couldn't continue {which}"
        controller.say("info", title, "\n".join(filter(None, details)))


async def replace(controller: SessionController) -> None:
    """Open a new session in place of one that the agent lost when a login restarted it."""
    earlier, queue = controller.transcript, controller.queue
    has_messages = earlier is not None and earlier.has_messages
    queue.is_on_hold = queue.is_on_hold or has_messages
    has_prompts = bool(queue.waiting)
    await controller.open(earlier=earlier)
    if controller.session is None:
        _report_failure(controller, earlier)
        return
    details = [
        UNKNOWN_ABOVE if has_messages else "",
        "Your prompt is sent again." if has_prompts and not queue.is_on_hold else "",
        queue.hold_notice,
    ]
    title = "New session: the agent was restarted for the login"
    controller.say("info", title, "\n".join(filter(None, details)))


def _report_failure(controller: SessionController, earlier: Transcript | None) -> None:
    if earlier is not None:
        description = controller.failure
        earlier.add_notice(Notice(severity="error", title="The session couldn't be continued", description=description))
    controller.context.on_change()
