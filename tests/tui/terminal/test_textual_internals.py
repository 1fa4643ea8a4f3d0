"""Contract with Textual and Rich: every private name that the TUI depends on exists in the installed version."""

from __future__ import annotations

import inspect
import re
from functools import _lru_cache_wrapper
from pathlib import Path

import pytest
from rich.markdown import Markdown
from rich.style import Style
from textual._compositor import ChopsUpdate, Compositor, CompositorUpdate
from textual._styles_cache import StylesCache
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.document._document import EditResult
from textual.drivers.linux_driver import LinuxDriver
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, OptionList, TextArea

SOURCE = Path(__file__).resolve().parents[3] / "src" / "accord" / "tui"
INTERNALS = SOURCE / "terminal" / "textual_internals.py"


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (App, "_close_messages_no_wait"),
        (App, "_display"),
        (App, "_fatal_error"),
        (App, "_handle_exception"),
        (Screen, "_on_timer_update"),
        (XTermParser, "_sequence_to_key_events"),
        (TextArea, "_delete_via_keyboard"),
        (TextArea, "_on_key"),
        (Input, "_on_key"),
        (Markdown, "_flatten_tokens"),
        (Widget, "_exchange_repaint_regions"),
        (Compositor, "visible_widgets"),
        (CompositorUpdate, "render_segments"),
        (EditResult, "replaced_text"),
    ],
    ids=lambda each: each if isinstance(each, str) else each.__name__,
)
def test_the_class_has_the_private_name(owner: type, name: str) -> None:
    assert hasattr(owner, name) or name in owner.__annotations__


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (App, "_driver"),
        (App, "_batch_count"),
        (App, "_exit_renderables"),
        (App, "_filters"),
        (Screen, "_compositor"),
        (Screen, "_dirty_widgets"),
        (Widget, "_layout_required"),
        (Widget, "_scroll_required"),
        (Widget, "_repaint_required"),
        (Widget, "_recompose_required"),
        (OptionList, "_index_to_line"),
        (LinuxDriver, "_writer_thread"),
        (ChopsUpdate, "spans"),
    ],
    ids=lambda each: each if isinstance(each, str) else each.__name__,
)
def test_an_instance_has_the_private_attribute(owner: type, name: str) -> None:
    sources = [inspect.getsource(each) for each in owner.__mro__ if each.__module__.startswith("textual")]
    pattern = rf"(self\.{name}\b|def {name}\b)"
    assert any(re.search(pattern, each) for each in sources), f"{owner.__name__} doesn't set {name} any more"


def test_widgets_have_a_map_of_bindings() -> None:
    assert isinstance(Widget()._bindings.key_to_bindings, dict)


def test_a_style_has_a_link() -> None:
    assert Style(link="https://example.com")._link == "https://example.com"


def test_the_cache_of_border_styles_can_be_cleared() -> None:
    assert isinstance(StylesCache.get_inner_outer, _lru_cache_wrapper)


def test_the_driver_reads_keys_with_the_parser_of_its_module() -> None:
    from textual.drivers import linux_driver

    assert linux_driver.XTermParser is not None


def test_private_modules_of_textual_are_imported_in_one_place() -> None:
    found = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if path != INTERNALS and re.search(r"(from|import) textual[\w.]*\._", path.read_text(encoding="utf-8"))
    ]
    assert found == []
