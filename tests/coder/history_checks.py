"""Checks that every provider accepts a history."""

from __future__ import annotations

from collections.abc import Sequence

from accord.coder.history import Message, ModelSaid, Summary, Text, Thought, ToolsSaid, UserSaid


def faults(history: Sequence[Message]) -> list[str]:
    """Return the problems that a provider would report."""
    found: list[str] = []
    for index, message in enumerate(history):
        before = history[index - 1] if index else None
        after = history[index + 1] if index + 1 < len(history) else None
        match message:
            case UserSaid(content=[]):
                found.append(f"{index}: the user said nothing")
            case ModelSaid():
                if (
                    not any(isinstance(part, Text) and part.text.strip() for part in message.parts)
                    and not message.calls
                ):
                    found.append(f"{index}: the model said nothing")
                if isinstance(before, ModelSaid):
                    found.append(f"{index}: the model spoke twice")
                if all(isinstance(part, Thought) for part in message.parts):
                    found.append(f"{index}: thoughts alone")
                ids = [call.id for call in message.calls]
                answered = [result.id for result in after.results] if isinstance(after, ToolsSaid) else []
                if ids != answered:
                    found.append(f"{index}: called {ids}, answered {answered}")
                if len(set(ids)) != len(ids):
                    found.append(f"{index}: two calls of one id in {ids}")
            case ToolsSaid():
                if not isinstance(before, ModelSaid) or not before.calls:
                    found.append(f"{index}: a result without a call")
            case Summary() if index:
                found.append(f"{index}: a summary in the middle")
            case _:
                pass
    return found
