"""Side panel: plan, changed files, background work, MCP servers, context and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual.strip import Strip
from textual.widget import Widget

from accord.model.session import arrange_options
from accord.terminal_text import one_line, sanitize
from accord.transcript.mcp_status import McpServers, McpServerView
from accord.tui.panels import meter
from accord.tui.panels.plan import MARKS, count_done
from accord.tui.session.activity import NO_RESULT
from accord.tui.session.changed_files import ChangedFile, ChangedFiles
from accord.tui.text import truncate_path
from accord.tui.transcript.blocks.base import NO_RESULT_MARK

if TYPE_CHECKING:
    from accord.model.session import Option, Plan, Usage
    from accord.tui.app import AccordApp
    from accord.tui.session.controller import SessionController
    from accord.tui.theme import TextStyles


_MAX_WORK = 8
_MAX_FILES = 12

MCP_MARKS = {"connected": "✓", "failed": "✗", "starting": "·", "given": "·"}


class SidePanel(Widget):
    """A column with details of the session, redrawn when something changes. Hidden until it has something to add."""

    app: AccordApp

    DEFAULT_CSS: ClassVar[str] = """
    SidePanel {
        width: 34; height: 1fr; border-left: solid $line; padding: 0 1; background: $background;
    }
    """

    def __init__(self, text_styles: TextStyles, controller: SessionController, cwd: str) -> None:
        super().__init__()
        self.text_styles = text_styles
        self.controller = controller
        self._lines: list[Strip] = []
        self._cwd = cwd
        self._mcp = McpServers()
        self._changed = ChangedFiles()
        self._shown: object = None
        self.display = False

    @property
    def _servers(self) -> list[McpServerView]:
        return self._mcp.list(self.controller.transcript, self.controller.servers)

    @property
    def has_something(self) -> bool:
        """Whether there is something that only this panel shows. The status line has room for context and cost, and
        options don't change by themselves: for these alone, the transcript would lose a quarter of its width."""
        controller, session = self.controller, self.controller.session
        if session is None:
            return False
        about = session.transcript
        going = controller.activity.background or controller.activity.subagents
        content = about.plans, going, self._servers, controller.unknown_updates
        return controller.parent is not None or any(content) or bool(self._changed.update(about))

    @property
    def _listed_options(self) -> list[Option]:
        """The options that aren't shown elsewhere."""
        session = self.controller.session
        shown = ("mode", "model") if self.app.headline.display else ()
        return [] if session is None else [each for each in arrange_options(session.options) if each.id not in shown]

    def restyle(self, text_styles: TextStyles) -> None:
        """Apply another theme."""
        self.text_styles = text_styles
        self.update(force=True)

    def update(self, *, force: bool = False) -> None:
        """Redraw if something changed."""
        self.display = self.has_something
        snapshot = self._snapshot()
        if force or snapshot != self._shown:
            self._shown = snapshot
            self._lines = self._render_all()
            self.refresh()

    def _snapshot(self) -> object:
        session = self.controller.session
        if session is None:
            return self.controller.state
        about = session.transcript
        plans = [
            (plan.id, plan.markdown, plan.uri, [(e.content, e.status) for e in plan.entries])
            for plan in about.plans.values()
        ]
        usage = about.usage
        spent = None if usage is None else (usage.used, usage.size, usage.cost)
        options = [(option.id, option.value) for option in self._listed_options]
        changed = self._changed.update(about)
        children = [self.controller.activity.subagents, self.controller.activity.background]
        servers = self._servers
        fields = self.controller.state, plans, spent, options, changed, children, self.controller.unknown_updates
        return *fields, servers, self.size.width

    def _render_all(self) -> list[Strip]:
        session = self.controller.session
        width = self.size.width
        if session is None or width <= 0:
            return []
        about = session.transcript
        lines: list[Strip] = []
        for plan in about.plans.values():
            lines += self._render_plan(plan, width)
        lines += self._render_changed(self._changed.update(about), width)
        lines += self._render_work(width)
        lines += self._render_servers(width)
        if about.usage is not None:
            lines += self._render_usage(about.usage, width)
        lines += self._options()
        lines += self._about(width)
        return lines

    def _render_changed(self, files: list[ChangedFile], width: int) -> list[Strip]:
        text_styles = self.text_styles
        if not files:
            return []
        lines = self._title("1 file changed" if len(files) == 1 else f"{len(files)} files changed")
        for each in files[:_MAX_FILES]:
            added, removed = (f" +{each.added}" if each.added else "", f" -{each.removed}" if each.removed else "")
            room = max(width - len(added) - len(removed), 8)
            name = truncate_path(each.path.removeprefix(f"{self._cwd}/"), room)
            pad = " " * (room - cell_len(name))
            counts = ((f"{pad}{added}", text_styles.good), (removed, text_styles.bad))
            lines.append(text_styles.line((name, None), *counts))
        if len(files) > _MAX_FILES:
            lines.append(text_styles.line((f"and {len(files) - _MAX_FILES} more", text_styles.dim)))
        return lines

    def _render_servers(self, width: int) -> list[Strip]:
        text_styles, servers = self.text_styles, self._servers
        lines = self._title("MCP servers") if servers else []
        for server in servers:
            style = {"connected": text_styles.good, "failed": text_styles.bad}.get(server.state, text_styles.dim)
            detail = f"  {server.detail}" if server.detail else ""
            name = one_line(server.name, width - 2)
            words = one_line(detail, max(width - 2 - cell_len(name), 1)) if detail else ""
            mark = (f"{MCP_MARKS[server.state]} ", style)
            lines.append(text_styles.line(mark, (name, None), (f"  {words}" if words else "", text_styles.dim)))
        return lines

    def _render_usage(self, usage: Usage, width: int) -> list[Strip]:
        text_styles = self.text_styles
        lines: list[Strip] = []
        share = meter.share_of(usage)
        if share is not None:
            style = text_styles.bad if share > 0.9 else text_styles.warn if share > 0.7 else text_styles.dim
            full = round(min(share, 1.0) * (width - 6))
            rest = ("─" * max(width - 6 - full, 0), text_styles.faint)
            lines.append(text_styles.line(("━" * full, style), rest, (f"{meter.format_percent(share):>6}", None)))
        spent = meter.format_cost(usage.cost, 12)
        words = filter(None, [meter.format_tokens(usage), f"{spent} so far" if spent else ""])
        lines += [text_styles.line((each, text_styles.dim)) for each in words]
        return [*self._title("Context"), *lines] if lines else []

    def _render_plan(self, plan: Plan, width: int) -> list[Strip]:
        text_styles = self.text_styles
        lines = self._title(f"Plan {count_done(plan)}/{len(plan.entries)}" if plan.entries else "Plan")
        for entry in plan.entries:
            style = {
                "completed": text_styles.good,
                "in_progress": text_styles.accent,
                "cancelled": text_styles.warn,
            }.get(entry.status, text_styles.dim)
            is_over = entry.status in ("completed", "cancelled")
            words = Text(sanitize(entry.content)[:300], style=text_styles.dim if is_over else text_styles.base)
            if entry.priority == "high" and not is_over:
                words.stylize("bold")
            body = text_styles.draw(words, width - 2)
            mark = text_styles.line((f"{MARKS.get(entry.status, '○')} ", style))
            rest = text_styles.line(("  ", None))
            lines += [Strip.join([rest if at else mark, line]) for at, line in enumerate(body)]
        if plan.markdown:
            lines += text_styles.draw(Text(sanitize(plan.markdown)[:2000], style=text_styles.dim), width)
        if plan.uri:
            lines.append(text_styles.line((one_line(plan.uri, width), text_styles.accent)))
        return lines

    def _render_work(self, width: int) -> list[Strip]:
        """Render background work and subagents."""
        text_styles, work = self.text_styles, self.controller.activity
        going = list(dict.fromkeys([*work.background, *reversed(work.subagents)]))
        # Below running work comes what has ended, the newest first.
        going.sort(key=lambda each: each.state in ("done", "ended", NO_RESULT))
        lines = self._title("Background work (alt+a)") if going else []
        over = ("✓", text_styles.good)
        marks = {"done": over, "ended": over, NO_RESULT: (NO_RESULT_MARK, text_styles.warn)}
        for each in going[:_MAX_WORK]:
            mark, style = marks.get(each.state, ("◐", text_styles.accent))
            state = f"  {each.state}"
            words = one_line(each.title, max(width - 2 - len(state), 6))
            lines.append(text_styles.line((f"{mark} ", style), (words, None), (state, text_styles.dim)))
        if len(going) > _MAX_WORK:
            lines.append(text_styles.line((f"  and {len(going) - _MAX_WORK} more", text_styles.dim)))
        return lines

    def _options(self) -> list[Strip]:
        lines = self._title("Options (ctrl+g)") if self._listed_options else []
        for option in self._listed_options:
            name, chosen = one_line(option.name, 14), one_line(option.value_name, 16)
            lines.append(self.text_styles.line((f"{name}: ", self.text_styles.dim), (chosen, None)))
        return lines

    def _about(self, width: int) -> list[Strip]:
        """Render the owner of a subagent's session, and the number of unknown updates."""
        text_styles, controller = self.text_styles, self.controller
        lines: list[Strip] = []
        if controller.parent is not None:
            whose = f"of {controller.parent.title}" if controller.parent.title else "of this session"
            lines += self._title("Subagent")
            lines += text_styles.draw(Text(sanitize(controller.title)[:200]), width)
            lines.append(text_styles.line((one_line(whose, width), text_styles.dim)))
        if controller.unknown_updates:
            words = "1 update" if controller.unknown_updates == 1 else f"{controller.unknown_updates} updates"
            lines += self._title(f"{words} not supported")
            lines.append(text_styles.line(("ctrl+l, then f9 shows them", text_styles.dim)))
        return lines

    def _title(self, words: str) -> list[Strip]:
        return [
            self.text_styles.line(("", None)),
            self.text_styles.line((words, self.text_styles.strong)),
        ]

    def on_resize(self) -> None:
        self.update(force=True)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        line = self._lines[y] if y < len(self._lines) else self.text_styles.line(("", None))
        return line.adjust_cell_length(width, self.text_styles.base)
