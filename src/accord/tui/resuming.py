"""One tab's session: begun, forked, or gone on with after its agent died."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accord.model.session import Notice
from accord.tui import greeting
from accord.tui.earlier import kept_of
from accord.tui.fault import beside
from accord.tui.frame import Frame
from accord.tui.opening import tells
from accord.tui.plain import one_line

if TYPE_CHECKING:
    from accord.transcript.transcript import Transcript
    from accord.tui.link import Link


class Resuming(Frame):
    """A talk on the screen, from its beginning."""

    def begin(self, id: str | None = None, how: Any = "new") -> None:
        """Opens a session, once the agent is there."""
        beside(self, self.talk.open(id, how))

    def begin_fork(self, id: str, title: str, earlier: Transcript | None) -> None:
        """Forks a session; what was said in it, where that is known here, is shown too."""
        self.talk.origin = f"fork of {title}"
        beside(self, self._fork(id, title, earlier))

    async def _fork(self, id: str, title: str, earlier: Transcript | None) -> None:
        await self.talk.open(id, "fork", earlier)
        self.talk.say("info", f"A fork of {title}: what is said below is not in the original")

    def lost(self) -> None:
        self.restart(self.talk.link, self.talk.id, is_known=False)

    def restart(self, link: Link, id: str | None, *, is_known: bool = True) -> None:
        """Goes on with an agent that was started again: in the same session, where the agent can do that.

        One that does not know it was started again for a login; then another session begins in its place."""
        old = self.talk
        old.untold.leave(for_good=True)
        self.talk = self._talk_with(link)
        self.talk.queue = old.take_all()
        self.talk.on_hold = old.on_hold or old.died_at_work
        self.talk.before, self.talk.origin = kept_of(old), old.origin
        beside(self, old.close())
        self.talk.clocks = old.clocks
        self.status.talk = self.talk
        self.conversation.empty_text = greeting.starting(link, self.cwd)
        if self._side is not None:
            self._side.talk = self.talk
        if self._queue is not None:
            self._queue.talk = self.talk
        beside(self, self._reopen(id) if is_known else self._replace())
        self.changed()

    async def _replace(self) -> None:
        talk, earlier = self.talk, self.talk.transcript
        is_more = earlier is not None and tells(earlier)
        talk.on_hold = talk.on_hold or is_more  # what waits was meant for one that knows what was said
        waits = bool(talk.queue)
        await talk.open(earlier=earlier)
        if talk.session is None:
            self._could_not(earlier)
            return
        unknown = "It does not know what was said above this line." if is_more else ""
        sent = "Your prompt is sent again." if waits and not talk.on_hold else ""
        what = "A new session: the agent was started again for the login"
        talk.say("info", what, "\n".join(filter(None, [unknown, sent, talk.held_words])))

    def _could_not(self, earlier: Transcript | None) -> None:
        if earlier is not None:
            notice = Notice(severity="error", title="It could not go on", description=self.talk.failure)
            earlier.add_notice(notice)
        self.changed()

    async def _reopen(self, id: str | None) -> None:
        talk, earlier = self.talk, self.talk.transcript
        await talk.link.ready.wait()
        agent = talk.link.agent
        if id is not None and agent is not None and (agent.offers.load or agent.offers.resume):
            await talk.open(id, "load" if agent.offers.load else "resume", earlier)
            if talk.session is not None:
                talk.say("info", "The agent is there again and goes on with this session", talk.held_words)
                return
        talk.on_hold = talk.on_hold or earlier is not None  # what waits was meant for one that knows what was said
        await talk.open(earlier=earlier)
        if talk.session is None:
            self._could_not(earlier)
        elif id is not None:
            before = "the one before" if earlier is not None else one_line(id, 60)
            what = f"A new session: the agent could not go on with {before}"
            unknown = "It does not know what was said above this line." if earlier is not None else ""
            told = [unknown, talk.held_words]
            talk.say("info", what, "\n".join(filter(None, told)))
