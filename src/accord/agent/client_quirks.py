"""Workarounds for particular clients: nonstandard prompts, and permission options that aren't shown by name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from accord.agent.offers import ClientOffers
from accord.model.content import Content, TextContent

_PREVIOUS = re.compile(r"<previous_user_message>(.*)</previous_user_message>", re.DOTALL)
_CONTINUING = re.compile(
    r"<system_context>Continuing from previous session with \d+ recent user messages</system_context>"
)
_NAMES_BY_KIND = frozenset({"CodeCompanion.nvim"})
"""Clients that label permission options by their kind."""


def shows_option_names(client: ClientOffers) -> bool:
    """Return whether the client shows the names of permission options.

    Clients that send no `clientInfo` are assumed not to. Avante is one of them: it supports only fixed option ids."""
    return client.info is not None and client.info.name not in _NAMES_BY_KIND


def unwrap_prompt(content: list[Content]) -> list[Content]:
    """Extract the request from an Avante prompt; return any other prompt unchanged.

    Avante sends the user's recent messages, newest first, each in `<previous_user_message>` tags, followed by a
    `<system_context>` block. The first message is the request; the agent has already received the others."""
    texts = [piece.text for piece in content if isinstance(piece, TextContent)]
    wrapped = [_PREVIOUS.fullmatch(text) for text in texts[:-1]]
    if not wrapped or wrapped[0] is None or None in wrapped or not _CONTINUING.fullmatch(texts[-1]):
        return content
    return [TextContent(wrapped[0][1]), *(piece for piece in content if not isinstance(piece, TextContent))]


def drop_repeated(content: list[Content], cancelled: Sequence[Content]) -> list[Content]:
    """Remove a cancelled prompt from the beginning of the next one, unless nothing else would be left.

    CodeCompanion resends the message of a cancelled turn in front of the next one."""
    count = len(cancelled)
    return content[count:] if count and len(content) > count and content[:count] == list(cancelled) else content
