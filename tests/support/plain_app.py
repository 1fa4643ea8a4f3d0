"""An empty application with our colors, for screens that are tested alone."""

from __future__ import annotations

from textual.app import App

from accord.tui.theme import TextStyles


class PlainApp(App[None]):
    """Knows the variables that our widgets use."""

    def get_css_variables(self) -> dict[str, str]:
        variables = super().get_css_variables()
        return variables | TextStyles(variables, dark=True).css_variables
