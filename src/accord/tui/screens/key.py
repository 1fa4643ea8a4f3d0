"""Asks for a provider's key, hidden, and checks it before it is used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Static

from accord.errors import AccordError
from accord.terminal_text import sanitize
from accord.tui.errors import run_in_background
from accord.tui.screens.modal import Modal
from accord.tui.terminal.keyboard import Field
from accord.tui.text import make_label

if TYPE_CHECKING:
    from accord.tui.host import KeyProvider


class EnteredKey:
    """A key that the provider accepted, or couldn't check. Its text isn't part of any representation."""

    def __init__(self, value: str, note: str) -> None:
        self.value = value
        self.note = note
        """Why it couldn't be checked; empty if it was."""


class KeyScreen(Modal["EnteredKey | None"]):
    """Returns the key, or None if the user dismissed the screen. A rejected key can be corrected at once."""

    DEFAULT_CSS: ClassVar[str] = """
    KeyScreen { align: center middle; }
    KeyScreen > Vertical {
        width: 80%; max-width: 90; height: auto; border: round $primary; padding: 0 1; background: $background;
        border-subtitle-color: $muted;
    }
    KeyScreen Input { border: none; height: 1; padding: 0; background: $background; }
    KeyScreen .about { color: $muted; height: auto; }
    KeyScreen .state { height: 1; color: $muted; }
    KeyScreen .state.-problem { height: auto; color: $error; }
    """
    key_hints = ("enter check and continue · esc back", "enter check · esc back")

    def __init__(self, provider: KeyProvider, check: Callable[[str], Awaitable[str]], reason: str = "") -> None:
        """`check` returns a note if the provider can't tell, and raises `AccordError` if it rejects the key. `reason`
        is why a key is needed."""
        super().__init__()
        self._provider = provider
        self._check = check
        self._reason = reason
        self._is_checking = False

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = make_label(f"Key for {self._provider.title}")
            if self._reason:
                yield Static(Text(sanitize(self._reason)), classes="about")
            yield Field(password=True, placeholder="paste the key; it stays hidden", compact=True)
            yield Static("", classes="state")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        key = message.value.strip()
        if key and not self._is_checking:
            self._is_checking = True
            self._say(f"Checking with {self._provider.title}…")
            run_in_background(self, self._check_key(key), exclusive=True)

    async def _check_key(self, key: str) -> None:
        try:
            note = await self._check(key)
        except AccordError as error:
            self._say(str(error), is_problem=True)
        else:
            self.dismiss(EnteredKey(key, note))
        finally:
            self._is_checking = False

    def _say(self, text: str, *, is_problem: bool = False) -> None:
        state = self.query_one(".state", Static)
        state.set_class(is_problem, "-problem")
        state.update(Text(sanitize(text)))

    def key_escape(self) -> None:
        self.dismiss(None)
