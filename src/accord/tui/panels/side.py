"""The side panel: the plan, the context and the cost, what is set, the session, its servers and subagents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.strip import Strip
from textual.widget import Widget

from accord.tui.conversation.block import UNTOLD, UNTOLD_MARK
from accord.tui.panels import meter
from accord.tui.panels.plan import MARKS, done
from accord.tui.plain import one_line, plain
from accord.tui.servers import Servers

if TYPE_CHECKING:
    from accord.model.session import Plan, Usage
    from accord.tui.look import Look
    from accord.tui.talk import Talk


_MOST_WORK = 8


class SidePanel(Widget):
    """A column of what is worth knowing, drawn anew when something of it changed. It takes no room before there is
    something that is not said elsewhere."""

    DEFAULT_CSS = """
    SidePanel {
        width: 34; height: 1fr; border-left: solid $foreground 20%; padding: 0 1; background: $background;
    }
    """

    def __init__(self, look: Look, talk: Talk) -> None:
        super().__init__()
        self.look = look
        self.talk = talk
        self._lines: list[Strip] = []
        self._servers = Servers()
        self._shown: object = None
        self.display = False

    @property
    def has_something(self) -> bool:
        """Whether there is more to say than that there is a session."""
        talk, session = self.talk, self.talk.session
        if session is None:
            return False
        about, usage = session.transcript, session.transcript.usage
        is_known = usage is not None and (meter.tokens(usage) or meter.spent(usage.cost, 12))
        going = talk.work.background or talk.work.children
        told = about.plans, is_known, session.options, session.title, going, self._servers.of(talk), talk.unknown
        return talk.parent is not None or any(told)

    def update(self, *, anew: bool = False) -> None:
        """Draws what changed, if anything did."""
        self.display = self.has_something
        told = self._told()
        if anew or told != self._shown:
            self._shown = told
            self._lines = self._drawn()
            self.refresh()

    def _told(self) -> object:
        session = self.talk.session
        if session is None:
            return self.talk.state
        about = session.transcript
        plans = [
            (plan.id, plan.markdown, plan.uri, [(e.content, e.status) for e in plan.entries])
            for plan in about.plans.values()
        ]
        usage = about.usage
        spent = None if usage is None else (usage.used, usage.size, usage.cost)
        options = [(option.id, option.value) for option in session.options]
        children = [self.talk.work.children, self.talk.work.background]
        servers = self._servers.of(self.talk)
        told = self.talk.state, plans, spent, options, about.title, children, self.talk.unknown
        return *told, servers, self.size.width

    def _drawn(self) -> list[Strip]:
        session = self.talk.session
        width = self.size.width
        if session is None or width <= 0:
            return []
        about = session.transcript
        lines: list[Strip] = []
        for plan in about.plans.values():
            lines += self._plan(plan, width)
        if about.usage is not None:
            lines += self._spent(about.usage, width)
        lines += self._going_on(width)
        lines += self._options()
        lines += self._about(width)
        return lines

    def _spent(self, usage: Usage, width: int) -> list[Strip]:
        look = self.look
        lines: list[Strip] = []
        share = meter.share_of(usage)
        if share is not None:
            style = look.bad if share > 0.9 else look.warn if share > 0.7 else look.good
            full = round(min(share, 1.0) * (width - 6))
            rest = ("─" * max(width - 6 - full, 0), look.faint)
            lines.append(look.line(("━" * full, style), rest, (f" {meter.percent(share):>4}", None)))
        spent = meter.spent(usage.cost, 12)
        words = filter(None, [meter.tokens(usage), f"{spent} so far" if spent else ""])
        lines += [look.line((each, look.dim)) for each in words]
        return [*self._title("Context"), *lines] if lines else []

    def _plan(self, plan: Plan, width: int) -> list[Strip]:
        look = self.look
        lines = self._title(f"Plan {done(plan)}/{len(plan.entries)}" if plan.entries else "Plan")
        for entry in plan.entries:
            style = {"completed": look.good, "in_progress": look.accent, "cancelled": look.warn}.get(
                entry.status, look.dim
            )
            is_over = entry.status in ("completed", "cancelled")
            words = Text(plain(entry.content)[:300], style=look.dim if is_over else look.base)
            if entry.priority == "high" and not is_over:
                words.stylize("bold")
            body = look.draw(words, width - 2)
            mark = look.line((f"{MARKS.get(entry.status, '○')} ", style))
            rest = look.line(("  ", None))
            lines += [Strip.join([rest if at else mark, line]) for at, line in enumerate(body)]
        if plan.markdown:
            lines += look.draw(Text(plain(plan.markdown)[:2000], style=look.dim), width)
        if plan.uri:
            lines.append(look.line((one_line(plan.uri, width), look.primary)))
        return lines

    def _going_on(self, width: int) -> list[Strip]:
        """What works beside the turn, and the subagents."""
        look, work = self.look, self.talk.work
        going = list(dict.fromkeys([*work.background, *reversed(work.children)]))
        going.sort(
            key=lambda each: each.state in ("done", "ended", UNTOLD)
        )  # what is over, the newest first, below the rest
        lines = self._title("At work (alt+a)") if going else []
        over = ("✓", look.good)
        marks = {"done": over, "ended": over, UNTOLD: (UNTOLD_MARK, look.warn)}
        for each in going[:_MOST_WORK]:
            mark, style = marks.get(each.state, ("◐", look.accent))
            state = f"  {each.state}"
            words = one_line(each.title, max(width - 2 - len(state), 6))
            lines.append(look.line((f"{mark} ", style), (words, None), (state, look.dim)))
        if len(going) > _MOST_WORK:
            lines.append(look.line((f"  and {len(going) - _MOST_WORK} more", look.dim)))
        return lines

    def _options(self) -> list[Strip]:
        session = self.talk.session
        if session is None or not session.options:
            return []
        lines = self._title("Set (ctrl+g)")
        for option in session.options:
            if option.is_boolean:
                chosen = "on" if option.value else "off"
            else:
                chosen = next((each.name for each in option.choices if each.value == option.value), str(option.value))
            name = one_line(option.name, 14)
            lines.append(self.look.line((f"{name}: ", self.look.dim), (one_line(chosen, 16), None)))
        return lines

    def _about(self, width: int) -> list[Strip]:
        look, talk = self.look, self.talk
        session, agent = talk.session, talk.link.agent
        if session is None or agent is None:
            return []
        lines = self._title("Session")
        title = talk.title if talk.parent is not None else session.title
        lines += look.draw(Text(plain(title or "without a title")[:200]), width)
        if talk.parent is not None:
            whose = f"a subagent of {talk.parent.title}" if talk.parent.title else "a subagent"
            lines.append(look.line((one_line(whose, width), look.dim)))
        lines.append(look.line((f"ACP version {agent.version}", look.dim)))
        for server in self._servers.of(talk):
            style = {"connected": look.good, "failed": look.bad}.get(server.state, look.dim)
            words = f"mcp {server.name} {server.words or 'given'}"
            lines.append(look.line((f"{server.mark} ", style), (one_line(words, width - 2), None)))
        if talk.unknown:
            words = "1 update" if talk.unknown == 1 else f"{talk.unknown} updates"
            lines.append(look.line((f"{words} not known here", look.dim)))
            lines.append(look.line(("ctrl+l and f9 show which", look.dim)))
        return lines

    def _title(self, words: str) -> list[Strip]:
        return [self.look.line(("", None)), self.look.line((words, self.look.primary + self.look.strong))]

    def on_resize(self) -> None:
        self.update(anew=True)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        line = self._lines[y] if y < len(self._lines) else self.look.line(("", None))
        return line.adjust_cell_length(width, self.look.base)
