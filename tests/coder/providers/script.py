"""The scripted answers of a fake provider, independent of any wire format."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass
class Thinks:
    """A thought, in pieces."""

    pieces: list[str]
    signature: str = ""

    def __init__(self, *pieces: str, signature: str = "") -> None:
        self.pieces = list(pieces)
        self.signature = signature


@dataclass
class Says:
    """Text, in pieces."""

    pieces: list[str]

    def __init__(self, *pieces: str) -> None:
        self.pieces = list(pieces)


@dataclass
class Raw:
    """Raw bytes of the stream."""

    text: str


@dataclass
class Holds:
    """Sends nothing until the client hangs up, or the test resumes the answer."""


@dataclass
class Cuts:
    """The connection breaks here."""


@dataclass
class Stops:
    """The stream ends here, although the answer is incomplete."""


@dataclass
class Calls:
    """A tool call; its arguments are streamed as pieces of text."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    id: str = "call_1"
    text: str | None = None
    """The raw text of the arguments, if it isn't valid JSON."""
    then: Holds | Cuts | Stops | None = None
    """An event after two of three pieces."""

    @property
    def pieces(self) -> list[str | Holds | Cuts | Stops]:
        text = json.dumps(self.arguments) if self.text is None else self.text
        third = max(1, len(text) // 3)
        pieces: list[str | Holds | Cuts | Stops] = [text[start : start + third] for start in range(0, len(text), third)]
        if self.then is not None:
            pieces.insert(2, self.then)
        return pieces


@dataclass
class Fails:
    """An error inside the stream."""

    type: str = "overloaded_error"
    message: str = "Overloaded"


Step = Thinks | Says | Calls | Raw | Holds | Cuts | Stops | Fails
End = Literal["end", "calls", "length", "refusal", "window"]


@dataclass
class Usage:
    """Reported token usage; `input` excludes cached tokens. Without it, no usage is reported."""

    input: int = 100
    output: int = 20
    cached_read: int = 0
    cached_write: int = 0
    thought: int = 0


@dataclass
class Answer:
    """One answer: its steps, stop reason and usage."""

    steps: list[Step]
    end: End | None = None
    usage: Usage = field(default_factory=Usage)
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def reason(self) -> End:
        return self.end or ("calls" if any(isinstance(step, Calls) for step in self.steps) else "end")


@dataclass
class Refusal:
    """An HTTP error instead of an answer."""

    status: int
    message: str = "no"
    type: str = ""
    """The provider's name of the error type, if it isn't the usual one of the status."""
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    """The body, if it differs from the usual one."""


Planned = Answer | Refusal
