"""A form that the agent asks the user to fill in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Checkbox, Input, Select, SelectionList, Static
from textual.widgets.selection_list import Selection

from accord.client.form import check_count, choices_of, is_known, read
from accord.config.redaction import is_secret_name
from accord.model.requests import Elicitation, Reply
from accord.terminal_text import one_line, sanitize
from accord.tui.screens.modal import Modal
from accord.tui.screens.page import BOX
from accord.tui.terminal.input_guard import InputDelay
from accord.tui.terminal.keyboard import Field
from accord.tui.text import make_label

TICKED, NOT_TICKED = "[x]", "[ ]"


class PlainCheckbox(Checkbox):
    """A checkbox that is readable without colors."""

    @property
    def _button(self) -> Content:
        return Content(TICKED if self.value else NOT_TICKED)


class CheckboxList(SelectionList[int]):
    """A list of checkboxes that is readable without colors."""

    def render_line(self, y: int) -> Strip:
        line = super().render_line(y)
        place = self.scroll_offset.y + y
        if place >= self.option_count:
            return line
        box = TICKED if self.get_option_at_index(place).value in self.selected else NOT_TICKED
        words = line.crop(len(box))  # replaces the list's own box, which is as wide
        style = next((segment.style for segment in words), None)
        return Strip([Segment(box, style), *words])


AnyField = PlainCheckbox | CheckboxList | Select[int] | Field

_KEY_HINTS = (
    "tab next field · ctrl+s send · ctrl+x decline · esc dismiss",
    "ctrl+s send · ctrl+x decline · esc dismiss",
    "ctrl+s send · esc dismiss",
)
_CONFIRM_HINTS = (
    "esc again discards what you filled in",
    "esc again discards it",
)
_UNKNOWN_REQUIRED = "It is required, so the form can't be sent: ctrl+x declines, esc dismisses."
_HINTS = {
    "integer": "a whole number",
    "number": "a number",
    "email": "an e-mail address",
    "uri": "a URL with https://",
    "date": "a date such as 2030-01-31",
    "date-time": "a date and time such as 2030-01-31T12:00:00Z",
}
"""Placeholders by type or format."""


class FormScreen(Modal[Reply]):
    """Fields from a flat JSON schema. Ctrl-S validates and sends them. Esc dismisses the form; if something was filled
    in, it has to be pressed twice.

    The form opens at its top. A focused field is scrolled into view together with its label."""

    BINDINGS = [
        # Priority: letters typed right after them belong in the next field.
        Binding("tab", "app.focus_next", show=False, priority=True),
        Binding("shift+tab", "app.focus_previous", show=False, priority=True),
        # Priority: the field would take it as "cut".
        Binding("ctrl+x", "decline", show=False, priority=True),
    ]

    DEFAULT_CSS: ClassVar[str] = (
        BOX.format(name="FormScreen")
        + """
    FormScreen .row { height: auto; margin-bottom: 1; }
    FormScreen Input, FormScreen Select, FormScreen CheckboxList, FormScreen PlainCheckbox { height: auto; }
    FormScreen CheckboxList { max-height: 8; }
    FormScreen PlainCheckbox:focus { background: $primary 25%; }
    FormScreen Input, FormScreen Input:focus { border: none; height: 1; padding: 0 1 !important; background: $surface; }
    FormScreen Input:focus { background: $primary 25%; }
    FormScreen .about { color: $muted; }
    FormScreen .error { color: $error; }
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
        self._fields: dict[str, AnyField] = {}
        self._errors: dict[str, Static] = {}
        self._initial_values: list[Any] = []
        """Values of the fields when the form opened."""
        self._leaving: InputDelay | None = None
        """Set once esc was pressed: pressed again, it dismisses the form."""

    @property
    def key_hints(self) -> Sequence[str]:
        return _KEY_HINTS if self._leaving is None else _CONFIRM_HINTS

    def compose(self) -> ComposeResult:
        with VerticalScroll(can_focus=False, classes="box") as box:
            box.border_title = make_label(f"{one_line(self._agent, 40)} asks")
            yield Static(Text(sanitize(self._question.message)), classes="message")
            for name, shape in self._shapes.items():
                with Vertical(classes="row"):
                    yield from self._compose_field(name, shape)

    def _compose_field(self, name: str, shape: dict[str, Any]) -> ComposeResult:
        title = one_line(str(shape.get("title") or name))
        about = one_line(str(shape.get("description") or ""), 500)
        if shape.get("type") != "boolean":
            yield Static(Text.assemble((f"{title}{' *' if name in self._required else ''}  ", "bold"), (about, "dim")))
        if is_known(shape):
            self._fields[name] = field = _make_widget(shape, title)
            yield field
        else:
            yield Static("This kind of field can't be filled in here.", classes="about")
        self._errors[name] = error = Static("", classes="error")
        error.display = False
        yield error

    def on_mount(self) -> None:
        self._initial_values = self._values
        if self._fields:
            next(iter(self._fields.values())).focus(scroll_visible=False)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self._forget_esc()
        # After Textual has scrolled to the field alone: its label and error message should be in view, too.
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
        elif event.key == "ctrl+s":  # no priority binding, so that letters typed before it reach their field first
            event.stop()
            self.send()

    def _forget_esc(self) -> None:
        """Forget a first esc, because the user did something else."""
        if self._leaving is not None:
            self._leaving = None
            self.say_keys()

    def _leave(self) -> None:
        """Dismiss the form. If something was filled in, ask for a second esc, which a held-down key can't give."""
        if self._leaving is None and self._values != self._initial_values:
            self._leaving = InputDelay(self, self.say_keys)
            self._leaving.begin()
            self.say_keys()
        elif self._leaving is None or not self._leaving.comes_early():
            self.dismiss(Reply(action="cancel"))

    def action_decline(self) -> None:
        self.dismiss(Reply(action="decline"))

    @property
    def _values(self) -> list[Any]:
        """Current values of the fields."""
        fields = self._fields.values()
        return [sorted(each.selected) if isinstance(each, CheckboxList) else each.value for each in fields]

    @property
    def typed(self) -> str:
        """Typed text, field by field, without secrets."""
        return "\n".join(
            f"{one_line(str(self._shapes[name].get('title') or name), 60)}: {field.value}"
            for name, field in self._fields.items()
            if isinstance(field, Input)
            and field.value.strip()
            and field.value != _format_default(self._shapes[name].get("default"))
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
        self._recheck(message.input)

    def on_select_changed(self, message: Select.Changed) -> None:
        self._recheck(message.select)

    def on_selection_list_selected_changed(self, message: CheckboxList.SelectedChanged[int]) -> None:
        self._recheck(message.selection_list)

    def on_checkbox_changed(self) -> None:
        self._forget_esc()

    def _recheck(self, changed: Widget) -> None:
        """Update the error of a field that has one. Other fields are checked when the form is sent."""
        self._forget_esc()
        for name, field in self._fields.items():
            if field is changed and self._errors[name].display:
                self._check(name)

    def _check(self, name: str) -> tuple[Any, str | None]:
        """Return the value of a field and its error, if any, and show the error below it."""
        if name in self._fields:
            value, error = _read_value(self._fields[name], self._shapes[name], name in self._required)
        else:
            value, error = None, _UNKNOWN_REQUIRED if name in self._required else None
        label = self._errors[name]
        label.display = error is not None
        label.update(Text(error or ""))
        return value, error

    def send(self) -> None:
        filled: dict[str, Any] = {}
        wrong: list[str] = []
        for name in self._shapes:
            value, error = self._check(name)
            if error is not None:
                wrong.append(name)
            elif value is not None:
                filled[name] = value
        if wrong:
            place: Widget = self._fields.get(wrong[0], self._errors[wrong[0]])
            place.focus()
            self.call_after_refresh(self._reveal, place)
            return
        self.dismiss(Reply(action="accept", content=filled))


def _make_widget(shape: dict[str, Any], title: str) -> AnyField:
    default = shape.get("default")
    choices = choices_of(shape)
    if shape.get("type") == "boolean":
        return PlainCheckbox(make_label(title), value=bool(default), compact=True)
    if shape.get("type") == "array":
        picked = default if isinstance(default, list) else []
        rows = [Selection(make_label(label), place, value in picked) for place, (value, label) in enumerate(choices)]
        return CheckboxList(*rows, compact=True)
    if choices:
        options = [(make_label(label), place) for place, (_, label) in enumerate(choices)]
        at = next((place for place, (value, _) in enumerate(choices) if value == default), None)
        return Select[int](options, allow_blank=True, compact=True, value=Select.NULL if at is None else at)
    format = str(shape.get("format") or "")
    hint = _HINTS.get(str(shape.get("type"))) or _HINTS.get(format, format)
    return Field(_format_default(default), placeholder=one_line(hint), compact=True)


def _format_default(default: Any) -> str:
    """Return a default value as visible text."""
    return "" if default is None else sanitize(str(default)).replace("\n", "␊")


def _read_value(field: AnyField, shape: dict[str, Any], is_required: bool) -> tuple[Any, str | None]:
    """Return the value of a field (None if empty) and its error, if any."""
    choices = choices_of(shape)
    if isinstance(field, PlainCheckbox):
        return field.value, None
    if isinstance(field, CheckboxList):
        picked = [choices[place][0] for place in sorted(field.selected)]
        return check_count(shape, picked) if picked or is_required else (None, None)
    if isinstance(field, Select):
        if isinstance(field.value, int) and not isinstance(field.value, bool):
            return choices[field.value][0], None
        return None, "Required." if is_required else None
    if not field.value:
        return None, "Required." if is_required else None
    # An untouched default is sent unchanged, not in its visible form.
    is_untouched = field.value == _format_default(shape.get("default"))
    return read(shape, [], str(shape["default"]) if is_untouched else field.value)
