"""A place in a tab for a panel that is shown only at times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from textual.widget import Widget

from accord.tui.terminal.textual_internals import lay_out_first

PanelType = TypeVar("PanelType", bound=Widget)


class PanelSlot(Generic[PanelType]):
    """Mounts a panel when it is needed and removes it when it isn't."""

    def __init__(self, mount: Callable[[PanelType], object], on_remove: Callable[[], object] | None = None) -> None:
        """`mount` puts the panel in its place. `on_remove` is called before a focused panel goes."""
        self.panel: PanelType | None = None
        self._mount = mount
        self._on_remove = on_remove

    def show(self, make: Callable[[], PanelType]) -> PanelType:
        """Return the panel, made and mounted if there is none."""
        if self.panel is None:
            self.panel = make()
            self._mount(self.panel)
        return self.panel

    def hide(self) -> None:
        """Remove the panel if there is one."""
        panel, self.panel = self.panel, None
        if panel is not None:
            if panel.has_focus and self._on_remove is not None:
                self._on_remove()
            if panel.is_attached:  # hide it in this frame: removing takes longer
                panel.display = False
                lay_out_first(panel)
            panel.remove()
