"""The words all protocol types are built from.

A type of the protocol is a `Message`. What its fields may be beyond plain types is said with the words below; they are
read by msgspec (strict first pass), by `repair` (forgiving second pass) and by the test that compares every class with
the published schemas."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar, Union, dataclass_transform, get_args

import msgspec
from msgspec import UNSET, UnsetType

__all__ = [
    "EMPTIED",
    "EXPECTED",
    "FILTERED",
    "FORMER",
    "NULL_IS_EMPTY",
    "STRICT",
    "UNSET",
    "AtLeast",
    "Either",
    "Emptied",
    "Expected",
    "Filtered",
    "Former",
    "Message",
    "Meta",
    "Missing",
    "NullIsEmpty",
    "Open",
    "OpenUnion",
    "Opt",
    "Other",
    "Otherwise",
    "Patch",
    "Strict",
    "UnsetType",
    "Untagged",
    "Word",
]

T = TypeVar("T")
D = TypeVar("D")

Meta = dict[str, Any]
"""The `_meta` of a message: an object whose keys belong to whoever put them there."""


class MessageType(msgspec.StructMeta):
    """Makes every field of a message keyword-only, so that required ones may follow inherited optional ones."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any) -> Any:
        return super().__new__(mcls, name, bases, namespace, **{"kw_only": True, **config})


# Said of the class, not of its metaclass: type checkers take the first word they find going up, and Struct has its own.
@dataclass_transform(kw_only_default=True, field_specifiers=(msgspec.field,))
class Message(msgspec.Struct, metaclass=MessageType, rename="camel", gc=False):
    """One object of the protocol. Snake case here, camel case on the wire; unknown keys are ignored when read."""

    # What an older draft called a field: {old wire key: wire key}. Read when the new key is missing, never written.
    OLDER: ClassVar[dict[str, str]] = {}

    meta: Meta | UnsetType | None = msgspec.field(default=UNSET, name="_meta")


Opt = Union[T, None, UnsetType]
"""A field that may be left out. Null says the same as leaving it out."""

Patch = Union[T, None, UnsetType]
"""A field with three states: left out (`UNSET`) keeps what was there, null clears it, a value replaces it."""


class Mark:
    """A rule about reading one field, attached to its type."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


# Optional fields are lenient unless they say otherwise: a value that cannot be read counts as absent.
STRICT = Mark("STRICT")
FILTERED = Mark("FILTERED")
EMPTIED = Mark("EMPTIED")
NULL_IS_EMPTY = Mark("NULL_IS_EMPTY")
EXPECTED = Mark("EXPECTED")
FORMER = Mark("FORMER")

Strict = Annotated[T, STRICT]
"""An optional field whose bad value fails the whole message."""

Filtered = Annotated[list[T], FILTERED]
"""A list whose bad items are dropped, the rest kept in order."""

Emptied = Annotated[T, EMPTIED]
"""A required field whose bad value becomes the empty value."""

NullIsEmpty = Annotated[T, NULL_IS_EMPTY]
"""Explicit null means the empty value; any other bad value fails the whole message."""

Expected = Annotated[T, EXPECTED]
"""Required by the schema and always sent; when it is missing on input, its default is taken."""

Former = Annotated[Union[T, UnsetType, None], FORMER]
"""A field that only older drafts had: understood when it comes in, never set by us."""


class Other:
    """A variant from the future or from an extension, kept whole so that it can be shown and passed on unchanged."""

    __match_args__ = ("tag", "data")
    __slots__ = ("_data", "raw", "tag")

    def __init__(self, tag: str, raw: bytes) -> None:
        self.tag = tag
        """The value of the union's discriminator; empty when there was none."""
        self.raw = raw
        """The object as JSON."""
        self._data: Any = None

    @classmethod
    def of(cls, tag: str, data: Any) -> Other:
        """An unknown variant made from plain data."""
        return cls(tag, msgspec.json.encode(data))

    @property
    def data(self) -> dict[str, Any]:
        """The whole object as plain data."""
        if self._data is None:
            self._data = msgspec.json.decode(self.raw)
        data: dict[str, Any] = self._data
        return data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Other) and (self.tag, self.data) == (other.tag, other.data)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Other({self.tag!r}, {self.data!r})"


class OpenUnion:
    """Marks a union that admits `Other`."""

    def __init__(self, tag_field: str) -> None:
        self.tag_field = tag_field

    def __repr__(self) -> str:
        return f"OpenUnion({self.tag_field!r})"


class Untagged:
    """Marks a union with members that carry no tag, read when the tag is missing.

    With `unknown_tags` they are also read when the tag is there but not known (v1: an auth method of a type we do not
    know is an `agent` method)."""

    def __init__(self, *members: Any, unknown_tags: bool = False) -> None:
        self.members = members
        self.unknown_tags = unknown_tags

    def __repr__(self) -> str:
        return f"Untagged({', '.join(getattr(m, '__name__', str(m)) for m in self.members)})"


class AtLeast:
    """Marks an open union whose unknown variants must still carry what this message demands of every variant."""

    def __init__(self, message: type[Message]) -> None:
        self.message = message

    def __repr__(self) -> str:
        return f"AtLeast({self.message.__name__})"


class Missing:
    """Marks a union whose tag older drafts left out, and says which variant they meant. Read so, never written so.

    Where the object itself shows which one was meant, a function says it (`None`: it does not show)."""

    def __init__(self, tag: str | Callable[[dict[str, Any]], str | None]) -> None:
        self.tag = tag

    def meant(self, value: dict[str, Any]) -> str | None:
        """The tag of the variant that this object without a tag stands for."""
        return self.tag if isinstance(self.tag, str) else self.tag(value)

    def __repr__(self) -> str:
        return f"Missing({self.tag!r})"


Word = Union[T, str]
"""`Word[Literal["a", "b"]]`: one of the words, or one that is not known yet."""

if TYPE_CHECKING:
    Open = Union[T, Other]
    Either = Union[T, D]
    Otherwise = Union[T, D]
else:

    class Nobody(msgspec.Struct):
        """Keeps a lone variant company in its union. No object is ever read as this."""

        def __post_init__(self) -> None:
            raise ValueError("is no variant")

    @cache
    def _nobody(tag_field: str) -> Any:
        return msgspec.defstruct("Nobody", [], bases=(Nobody,), tag_field=tag_field, tag="\0")

    def _accompanied(union: Any) -> Any:
        """A lone tagged struct in company: msgspec reads it alone even when the tag is missing."""
        tag_field = union.__struct_config__.tag_field if isinstance(union, msgspec.StructMeta) else None
        return union if tag_field is None else Union[union, _nobody(tag_field)]

    class Open:
        """`Open[A | B]`: a union of tagged messages that also admits variants not known yet, as `Other`."""

        def __class_getitem__(cls, union: Any) -> Any:
            first = get_args(union)[0] if get_args(union) else union
            return Annotated[_accompanied(union), OpenUnion(first.__struct_config__.tag_field)]

    class Either:
        """`Either[A, B]`: an A, or, when it carries no tag or is no A, a B."""

        def __class_getitem__(cls, members: tuple[Any, ...]) -> Any:
            return Annotated[_accompanied(members[0]), Untagged(*members[1:])]

    class Otherwise:
        """`Otherwise[A, B]`: an A, or a B when the tag is missing or not known."""

        def __class_getitem__(cls, members: tuple[Any, ...]) -> Any:
            return Annotated[_accompanied(members[0]), Untagged(*members[1:], unknown_tags=True)]
