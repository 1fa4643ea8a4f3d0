"""The values of a session option as rows of a picker: models by provider, and models that aren't listed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from accord.tui.screens.picker import Row

if TYPE_CHECKING:
    from accord.model.session import Choice, Option

_MAX_TYPED = 6
"""Maximum number of providers for which an unlisted model is offered."""


def list_values(option: Option) -> list[Row]:
    """Return a row for each value. Models that the agent doesn't group are grouped by the provider in their ids."""
    groups = {each.value: each.group_name or each.group or "" for each in option.choices}
    if option.category == "model" and not any(groups.values()):
        found = Counter(_provider(each.value) for each in option.choices)
        if len(found) > 1:
            groups = {each.value: _provider(each.value) for each in option.choices}
    order = list(dict.fromkeys(groups.values()))  # a heading appears once, even if the agent mixes its providers
    choices = sorted(option.choices, key=lambda each: order.index(groups[each.value]))
    return [Row(each.value, each.name, _describe(each), groups[each.value]) for each in choices]


def choose_typed(option: Option, text: str) -> list[Row]:
    """Return rows for a model that isn't listed: as typed, or with each provider that the agent's ids begin with."""
    known = {each.value for each in option.choices} | {each.name.lower() for each in option.choices}
    if text in known or text.lower() in known or any(each.isspace() for each in text):
        return []
    providers = list(dict.fromkeys(_provider(each.value) for each in option.choices if _provider(each.value)))
    names = [text] if _provider(text) or not providers else [f"{each}:{text}" for each in providers[:_MAX_TYPED]]
    return [Row(each, each, "not listed: passed on as it is", "Another model") for each in names if each not in known]


def find_value(option: Option, text: str) -> str | None:
    """Return the value that the user means, by its id, its name, or its id without the provider."""
    wanted = text.lower()
    for described in (_id, _name, _short_id):
        matches = [each.value for each in option.choices if described(each) == wanted]
        if len(matches) == 1:
            return matches[0]
    return None


def suggest_values(option: Option, text: str) -> str:
    """Return a hint with the values that look like a mistyped one, or else with all of them."""
    from accord.config.agents import nearest

    values = [each.value for each in option.choices]
    close = nearest(text, values)
    return f" Did you mean {' or '.join(close[:2])}?" if close else f" There are: {', '.join(values[:12])}."


def _provider(value: str) -> str:
    """Return the provider in a model's id, such as `anthropic` in `anthropic:claude-sonnet-5`."""
    provider, colon, name = value.partition(":")
    return provider if colon and name else ""


def _describe(choice: Choice) -> str:
    short = _short_id(choice)
    is_shown = short in choice.name.lower() or choice.value == choice.name
    return " · ".join(filter(None, ("" if is_shown else choice.value.partition(":")[2] or "", choice.description)))


def _id(choice: Choice) -> str:
    return choice.value.lower()


def _name(choice: Choice) -> str:
    return choice.name.lower()


def _short_id(choice: Choice) -> str:
    return choice.value.rpartition(":")[2].lower()
