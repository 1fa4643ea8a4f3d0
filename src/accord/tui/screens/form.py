"""A form that the agent asks to be filled in, with every kind of field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Input, Select, Static
from textual.widgets.selection_list import Selection

from accord.client.form import choices_of, counted, read
from accord.config.mask import is_secret_name
from accord.model.requests import Elicitation, Reply
from accord.tui.harmless import words
from accord.tui.moment import Moment
from accord.tui.plain import one_line, plain
from accord.tui.prompt.at_once import Field
from accord.tui.screens.above import Above
from accord.tui.screens.page import BOX
from accord.tui.screens.ticks import Tick, Ticks

_FORM_KEYS = (
    "tab next field · ctrl+s sends · ctrl+x declines · esc leaves it",
    "ctrl+s sends · ctrl+x declines · esc leaves it",
    "ctrl+s sends · esc leaves it",
)
_SURE = (
    "esc again leaves it: what you filled in is lost",
    "esc again: all this is lost",
)
_HINTS = {
    "integer": "a whole number",
    "number": "a number",
    "email": "an e-mail address",
    "uri": "an address, with https://",
    "date": "a date such as 2030-01-31",
    "date-time": "a date and time such as 2030-01-31T12:00:00Z",
}
"""What belongs into a field, by its type or its format."""


class FormScreen(Above[Reply]):
    """Fields from a flat JSON schema. Ctrl-S sends what was typed, which is checked first. Esc leaves it, and has to be
    pressed again where something was filled in.

    It opens at its top. A field that gets the keys is brought into view together with its name."""

    BINDINGS = [
        # At once: what is typed after them in a hurry belongs into the next field.
        Binding("tab", "app.focus_next", show=False, priority=True),
        Binding("shift+tab", "app.focus_previous", show=False, priority=True),
        # Before the field gets it, which would cut what it holds.
        Binding("ctrl+x", "decline", show=False, priority=True),
    ]

    DEFAULT_CSS = (
        BOX.format(name="FormScreen")
        + """
    FormScreen .row { height: auto; margin-bottom: 1; }
    FormScreen Input, FormScreen Select, FormScreen Ticks, FormScreen Tick { height: auto; }
    FormScreen Ticks { max-height: 8; }
    FormScreen Tick:focus { background: $primary 25%; }
    FormScreen Input, FormScreen Input:focus { border: none; height: 1; padding: 0 1 !important; background: $surface; }
    FormScreen Input:focus { background: $primary 25%; }
    FormScreen .about { color: $foreground 60%; }
    FormScreen .complaint { color: $error; }
    """
    )

    def __init__(self, question: Elicitation, agent: str) -> None:
        super().__init__()
        self._question = question
        self._agent = agent
        shapes = question.schema.get("properties") or {}
        self._shapes: dict[str, dict[str, Any]] = {
            str(name): shape if isinstance(shape, dict) else {} for name, shape in shapes.items()
        }
        self._required = set(question.schema.get("required") or [])
        self._fields: dict[str, Widget] = {}
        self._complaints: dict[str, Static] = {}
        self._at_first: list[Any] = []
        """What the fields held before the user came."""
        self._leaving: Moment | None = None
        """There once the user wants to leave: esc, pressed again, does so."""

    @property
    def key_hints(self) -> Sequence[str]:
        return _FORM_KEYS if self._leaving is None else _SURE

    def compose(self) -> ComposeResult:
        with VerticalScroll(can_focus=False, classes="box") as box:
            box.border_title = words(f"{one_line(self._agent, 40)} asks")
            yield Static(Text(plain(self._question.message)), classes="message")
            for name, shape in self._shapes.items():
                with Vertical(classes="row"):
                    yield from self._field(name, shape)

    def _field(self, name: str, shape: dict[str, Any]) -> ComposeResult:
        title = one_line(str(shape.get("title") or name))
        about = one_line(str(shape.get("description") or ""), 500)
        if shape.get("type") != "boolean":
            yield Static(Text.assemble((f"{title}{' *' if name in self._required else ''}  ", "bold"), (about, "dim")))
        self._fields[name] = field = _widget(shape, title)
        yield field
        self._complaints[name] = complaint = Static("", classes="complaint")
        complaint.display = False
        yield complaint

    def on_mount(self) -> None:
        self._at_first = self._held
        if self._fields:
            next(iter(self._fields.values())).focus(scroll_visible=False)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self._stay()
        # After Textual has scrolled to the field itself: its name and what is wrong with it belong to it.
        self.call_after_refresh(self._reveal, event.widget)

    def _reveal(self, field: Widget) -> None:
        box = self.query_one(VerticalScroll)
        row = next((each for each in field.ancestors_with_self if each.parent is box), None)
        if not isinstance(row, Widget):
            return
        if row is box.children[1]:
            box.scroll_home(animate=False)
        else:
            box.scroll_to_widget(row, animate=False)

    def on_key(self, event: events.Key) -> None:
        if event.key in ("pageup", "pagedown"):
            event.stop()
            box = self.query_one(VerticalScroll)
            (box.scroll_page_up if event.key == "pageup" else box.scroll_page_down)(animate=False)
        elif event.key == "escape":
            event.stop()
            self._leave()
        elif event.key == "ctrl+s":  # in its turn: what was typed before it in a hurry is sent with the rest
            event.stop()
            self.send()

    def _stay(self) -> None:
        """The user does something else than leave."""
        if self._leaving is not None:
            self._leaving = None
            self.say_keys()

    def _leave(self) -> None:
        """Goes away; but not without a second Esc where something was filled in, and not by one that is held down."""
        if self._leaving is None and self._held != self._at_first:
            self._leaving = Moment(self, self.say_keys)
            self._leaving.begin()
            self.say_keys()
        elif self._leaving is None or not self._leaving.comes_early():
            self.dismiss(Reply(action="cancel"))

    def action_decline(self) -> None:
        self.dismiss(Reply(action="decline"))

    @property
    def _held(self) -> list[Any]:
        """What the fields hold."""
        fields = self._fields.values()
        return [sorted(each.selected) if isinstance(each, Ticks) else getattr(each, "value", None) for each in fields]

    @property
    def typed(self) -> str:
        """What was typed into it, field by field, but no secrets."""
        return "\n".join(
            f"{one_line(str(self._shapes[name].get('title') or name), 60)}: {field.value}"
            for name, field in self._fields.items()
            if isinstance(field, Input)
            and field.value.strip()
            and field.value != _shown(self._shapes[name].get("default"))
            and not (is_secret_name(name) or self._shapes[name].get("format") == "password")
        )

    def on_input_submitted(self) -> None:
        fields = list(self._fields.values())
        at = next((place for place, field in enumerate(fields) if field.has_focus), -1)
        if at == len(fields) - 1:
            self.send()
        else:
            self.focus_next()

    def on_input_changed(self, message: Input.Changed) -> None:
        self._check_again(message.input)

    def on_select_changed(self, message: Select.Changed) -> None:
        self._check_again(message.select)

    def on_selection_list_selected_changed(self, message: Ticks.SelectedChanged[int]) -> None:
        self._check_again(message.selection_list)

    def on_checkbox_changed(self) -> None:
        self._stay()

    def _check_again(self, changed: Widget) -> None:
        """Takes a complaint back, or changes it; none is made about what was not sent yet."""
        self._stay()
        for name, field in self._fields.items():
            if field is changed and self._complaints[name].display:
                self._check(name)

    def _check(self, name: str) -> tuple[Any, str | None]:
        """What a field holds, or what is wrong with it, which is said below it."""
        value, complaint = _value(self._fields[name], self._shapes[name], name in self._required)
        label = self._complaints[name]
        label.display = complaint is not None
        label.update(Text(complaint or ""))
        return value, complaint

    def send(self) -> None:
        filled: dict[str, Any] = {}
        wrong: list[str] = []
        for name in self._shapes:
            value, complaint = self._check(name)
            if complaint is not None:
                wrong.append(name)
            elif value is not None:
                filled[name] = value
        if wrong:
            self._fields[wrong[0]].focus()
            self.call_after_refresh(self._reveal, self._fields[wrong[0]])
            return
        self.dismiss(Reply(action="accept", content=filled))


def _widget(shape: dict[str, Any], title: str) -> Widget:
    default = shape.get("default")
    choices = choices_of(shape)
    if shape.get("type") == "boolean":
        return Tick(words(title), value=bool(default), compact=True)
    if shape.get("type") == "array":
        picked = default if isinstance(default, list) else []
        rows = [Selection(words(label), place, value in picked) for place, (value, label) in enumerate(choices)]
        return Ticks(*rows, compact=True)
    if choices:
        options = [(words(label), place) for place, (_, label) in enumerate(choices)]
        at = next((place for place, (value, _) in enumerate(choices) if value == default), None)
        return Select[int](options, allow_blank=True, compact=True, value=Select.NULL if at is None else at)
    format = str(shape.get("format") or "")
    hint = _HINTS.get(str(shape.get("type"))) or _HINTS.get(format, format)
    return Field(_shown(default), placeholder=one_line(hint), compact=True)


def _shown(default: Any) -> str:
    """What stands in a field at first, with nothing in it but what can be seen."""
    return "" if default is None else plain(str(default)).replace("\n", "␊")


def _value(field: Widget, shape: dict[str, Any], is_required: bool) -> tuple[Any, str | None]:
    """What a field holds, or what is wrong with it; None for nothing."""
    choices = choices_of(shape)
    if isinstance(field, Tick):
        return field.value, None
    if isinstance(field, Ticks):
        picked = [choices[place][0] for place in sorted(field.selected)]
        return counted(shape, picked) if picked or is_required else (None, None)
    if isinstance(field, Select):
        if isinstance(field.value, int) and not isinstance(field.value, bool):
            return choices[field.value][0], None
        return None, "This one is needed." if is_required else None
    assert isinstance(field, Input)
    if not field.value:
        return None, "This one is needed." if is_required else None
    untouched = field.value == _shown(shape.get("default"))  # then what is sent is what was proposed, to the letter
    return read(shape, [], str(shape["default"]) if untouched else field.value)
