"""What a conversation does for its pictures: it tells the terminal of them, and draws anew who shows them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.widget import Widget

from accord.tui.conversation.picture import Gallery
from accord.tui.conversation.picture_way import Way, way
from accord.tui.fault import beside

if TYPE_CHECKING:
    from accord.model.content import Image
    from accord.tui.app import AccordApp
    from accord.tui.conversation.block import Block
    from accord.tui.conversation.layout import Layout


class Pictured(Widget):
    """A widget with pictures among its lines."""

    app: AccordApp
    layout_of: Layout
    pictures: Gallery

    def hang_pictures(self) -> None:
        """Has pictures drawn from now on."""
        self.pictures = Gallery(self._picture_way, self.app.pictures, self._pictures_drawn)
        self.layout_of.setting.pictures = self.pictures

    def on_mount(self) -> None:
        # Who had the terminal meanwhile may have taken our pictures off it.
        self.app.app_resume_signal.subscribe(self, lambda _: self.pictures.forget())

    def on_unmount(self) -> None:
        self.pictures.close()

    def view_pictures(self, images: list[Image]) -> None:
        """Shows pictures outside the terminal."""
        if images:
            beside(self, self._view(images))
        else:
            self.app.notify("There is no picture here.")

    async def _view(self, images: list[Image]) -> None:
        from accord.tui.viewing import show

        self.app.notify(await asyncio.to_thread(show, images))

    def _picture_way(self) -> Way:
        is_off = self.app.no_color or self.app.is_calm
        return way("off" if is_off else self.app.preferences.images, self.app.console.color_system)

    def _pictures_drawn(self, blocks: set[Block]) -> None:
        self.layout_of.redraw(blocks)
        self.moved()

    def moved(self) -> None:
        """Paints what is to be seen now."""
        raise NotImplementedError
