"""What a fake provider is told to answer, in words that belong to no provider."""

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
    """Something said, in pieces."""

    pieces: list[str]

    def __init__(self, *pieces: str) -> None:
        self.pieces = list(pieces)


@dataclass
class Calls:
    """A call of a tool; its arguments come in pieces of text."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    id: str = "call_1"
    text: str | None = None
    """The arguments as they are sent, if they are to be no JSON."""

    @property
    def pieces(self) -> list[str]:
        text = json.dumps(self.arguments) if self.text is None else self.text
        third = max(1, len(text) // 3)
        return [text[start : start + third] for start in range(0, len(text), third)]


@dataclass
class Raw:
    """A piece of the stream exactly as it is written here."""

    text: str


@dataclass
class Holds:
    """From here on nothing comes, until the client hangs up (or the test lets the answer go on)."""


@dataclass
class Cuts:
    """The line breaks here."""


@dataclass
class Stops:
    """The stream ends here as if that were all, but the answer does not."""


@dataclass
class Fails:
    """An error inside of the stream."""

    type: str = "overloaded_error"
    message: str = "Overloaded"


Step = Thinks | Says | Calls | Raw | Holds | Cuts | Stops | Fails
End = Literal["end", "calls", "length", "refusal"]


@dataclass
class Usage:
    """What the answer is said to have taken; `input` is without what the cache had. Without any, nothing is said."""

    input: int = 100
    output: int = 20
    cached_read: int = 0
    cached_write: int = 0
    thought: int = 0


@dataclass
class Answer:
    """One answer: its steps, why it ends, what it took."""

    steps: list[Step]
    end: End | None = None
    usage: Usage = field(default_factory=Usage)
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def reason(self) -> End:
        return self.end or ("calls" if any(isinstance(step, Calls) for step in self.steps) else "end")


@dataclass
class Refusal:
    """An answer that says no, before anything else."""

    status: int
    message: str = "no"
    type: str = ""
    """The provider's word for the error, when it is not the usual one of the status."""
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    """The body, if it is to be another."""


Planned = Answer | Refusal
