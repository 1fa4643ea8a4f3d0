"""One tab's session: begun, forked, or gone on with after its agent died."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accord.model.session import Notice
from accord.tui.fault import beside
from accord.tui.frame import Frame

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

    def restart(self, link: Link, id: str | None) -> None:
        """Goes on with an agent that was started again: in the same session, where the agent can do that."""
        old = self.talk
        self.talk = self._talk_with(link)
        self.talk.queue = old.take_all()
        self.talk.on_hold = old.on_hold or old.died_at_work
        self.talk.before, self.talk.origin = old if old.session is not None else old.before, old.origin
        beside(self, old.close())
        self.talk.clocks = old.clocks
        self.status.talk = self.talk
        if self._side is not None:
            self._side.talk = self.talk
        if self._queue is not None:
            self._queue.talk = self.talk
        beside(self, self._reopen(id))
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
            if earlier is not None:
                earlier.add_notice(Notice(severity="error", title="It could not go on", description=talk.failure))
            self.changed()
        elif id is not None:
            what = "A new session: the agent could not go on with the one before"
            unknown = "It does not know what was said above this line." if earlier is not None else ""
            told = [unknown, talk.held_words]
            talk.say("info", what, "\n".join(filter(None, told)))
