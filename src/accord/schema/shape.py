"""The building blocks of protocol types.

A protocol type is a `Message`. Its fields are plain types with the marks below, which are read by msgspec (strict first
pass), `repair` (lenient second pass) and the test that compares every class with the published schemas."""

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
"""The `_meta` of a message: an object whose keys belong to its sender."""


class MessageType(msgspec.StructMeta):
    """Makes every field of a message keyword-only, so that required fields may follow inherited optional ones."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any) -> Any:
        return super().__new__(mcls, name, bases, namespace, **{"kw_only": True, **config})


# On the class, not on its metaclass: type checkers use the first `dataclass_transform` they find, and Struct has one.
@dataclass_transform(kw_only_default=True, field_specifiers=(msgspec.field,))
class Message(msgspec.Struct, metaclass=MessageType, rename="camel", gc=False):
    """An object of the protocol. Snake case in Python, camel case on the wire; unknown keys are ignored."""

    # Keys of older drafts, as {old wire key: wire key}. Read if the new key is missing, never written.
    OLDER: ClassVar[dict[str, str]] = {}
    # Tags that some programs write, although this type has no tag in the schema. See `Either`.
    ALSO: ClassVar[tuple[str, ...]] = ()

    meta: Meta | UnsetType | None = msgspec.field(default=UNSET, name="_meta")


Opt = Union[T, None, UnsetType]
"""An optional field. Null means the same as absent."""

Patch = Union[T, None, UnsetType]
"""A field with three states: absent (`UNSET`) keeps the value, null clears it, a value replaces it."""


class Mark:
    """A rule about reading one field, attached to its type."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name: str = name

    def __repr__(self) -> str:
        return self.name


# Optional fields are lenient by default: an invalid value counts as absent.
STRICT = Mark("STRICT")
FILTERED = Mark("FILTERED")
EMPTIED = Mark("EMPTIED")
NULL_IS_EMPTY = Mark("NULL_IS_EMPTY")
EXPECTED = Mark("EXPECTED")
FORMER = Mark("FORMER")

Strict = Annotated[T, STRICT]
"""An optional field whose invalid value fails the whole message."""

Filtered = Annotated[list[T], FILTERED]
"""A list whose invalid items are dropped."""

Emptied = Annotated[T, EMPTIED]
"""A required field whose invalid value becomes the empty value."""

NullIsEmpty = Annotated[T, NULL_IS_EMPTY]
"""Null means the empty value; any other invalid value fails the whole message."""

Expected = Annotated[T, EXPECTED]
"""Required by the schema and always sent; if it is absent on input, the default is used."""

Former = Annotated[Union[T, UnsetType, None], FORMER]
"""A field of older drafts: read, but never written."""


class Other:
    """An unknown variant of a later version or an extension, preserved so that it can be forwarded unchanged."""

    __match_args__ = ("tag", "data")
    __slots__ = ("_data", "raw", "tag")

    def __init__(self, tag: str, raw: bytes) -> None:
        self.tag: str = tag
        """The value of the discriminator; empty if absent."""
        self.raw: bytes = raw
        """The object as JSON."""
        self._data: Any = None

    @classmethod
    def of(cls, tag: str, data: Any) -> Other:
        """Create an unknown variant from plain data."""
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

    def __repr__(self) -> str:
        return f"Other({self.tag!r}, {self.data!r})"


class OpenUnion:
    """Marks a union that admits `Other`."""

    def __init__(self, tag_field: str) -> None:
        self.tag_field = tag_field

    def __repr__(self) -> str:
        return f"OpenUnion({self.tag_field!r})"


class Untagged:
    """Marks a union with members that have no tag; they are read if the tag is missing.

    With `unknown_tags`, they are also read if the tag is unknown (v1: an auth method of an unknown type is an `agent`
    method). `tags` are additional tags for which they are read, because peers send them although they aren't in the
    schema (v1: an MCP server of type `stdio`)."""

    def __init__(self, *members: Any, unknown_tags: bool = False, tags: tuple[str, ...] = ()) -> None:
        self.members = members
        self.unknown_tags = unknown_tags
        self.tags = tags

    def __repr__(self) -> str:
        return f"Untagged({', '.join(getattr(m, '__name__', str(m)) for m in self.members)})"


class AtLeast:
    """Marks an open union whose unknown variants must still have the fields that this message requires."""

    def __init__(self, message: type[Message]) -> None:
        self.message = message

    def __repr__(self) -> str:
        return f"AtLeast({self.message.__name__})"


class Missing:
    """Marks a union whose tag was optional in older drafts, and names the variant without a tag. Never written.

    `tag` may be a function that derives the variant from the object; it returns None if it can't."""

    def __init__(self, tag: str | Callable[[dict[str, Any]], str | None]) -> None:
        self.tag = tag

    def resolve(self, value: dict[str, Any]) -> str | None:
        """Return the tag for an object without one."""
        return self.tag if isinstance(self.tag, str) else self.tag(value)

    def __repr__(self) -> str:
        return f"Missing({self.tag!r})"


Word = Union[T, str]
"""`Word[Literal["a", "b"]]`: one of these strings, or an unknown one."""

if TYPE_CHECKING:
    Open = Union[T, Other]
    Either = Union[T, D]
    Otherwise = Union[T, D]
else:

    class Unused(msgspec.Struct):
        """The second member of a union that has only one. No object is ever decoded as this."""

        def __post_init__(self) -> None:
            raise ValueError("isn't a variant")

    @cache
    def _unused_variant(tag_field: str) -> Any:
        return msgspec.defstruct("Unused", [], bases=(Unused,), tag_field=tag_field, tag="\0")

    def _add_companion(union: Any) -> Any:
        """Add a second member to a union that has only one, because msgspec accepts a single tagged struct without its
        tag."""
        tag_field = union.__struct_config__.tag_field if isinstance(union, msgspec.StructMeta) else None
        return union if tag_field is None else Union[union, _unused_variant(tag_field)]

    class Open:
        """`Open[A | B]`: a union of tagged messages that also accepts unknown variants, as `Other`."""

        def __class_getitem__(cls, union: Any) -> Any:
            first = get_args(union)[0] if get_args(union) else union
            return Annotated[_add_companion(union), OpenUnion(first.__struct_config__.tag_field)]

    class Either:
        """`Either[A, B]`: an A; or a B if it has no tag or isn't an A. `ALSO` of B lists tags that some programs
        write."""

        def __class_getitem__(cls, members: tuple[Any, ...]) -> Any:
            types = [member for member in members[1:] if isinstance(member, MessageType)]
            tags = tuple(tag for message in types for tag in message.ALSO)
            return Annotated[_add_companion(members[0]), Untagged(*members[1:], tags=tags)]

    class Otherwise:
        """`Otherwise[A, B]`: an A, or a B if the tag is absent or unknown."""

        def __class_getitem__(cls, members: tuple[Any, ...]) -> Any:
            return Annotated[_add_companion(members[0]), Untagged(*members[1:], unknown_tags=True)]
