"""Encode protocol types as bytes. All encoding goes through this module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from accord.errors import InvalidValue
from accord.rpc.envelope import without_surrogates
from accord.schema.shape import Other


def encode_unknown(value: Any) -> Any:
    """The `enc_hook` of the encoder: write an unknown variant unchanged."""
    if isinstance(value, Other):
        return msgspec.Raw(value.raw)
    if isinstance(value, int):  # a request id in its original notation; msgspec supports no subclasses
        return int(value)
    raise TypeError(f"{type(value).__name__} can't be encoded in a message")


encode_strictly: Callable[[Any], bytes] = msgspec.json.Encoder(enc_hook=encode_unknown).encode
"""Encode a value that is known to be valid. Errors are those of msgspec.

This is the encoder's own method: a function around it would take half as long again for short texts, so callers try
this first, and `encode` if it fails."""


def encode(value: Any) -> bytes:
    """Encode a message, or plain data, as JSON.

    Lone surrogates, which come from text decoded with `surrogateescape` (`os.listdir`, `sys.argv`), become U+FFFD. Any
    other value that JSON can't represent raises `InvalidValue` with its path."""
    try:
        return encode_strictly(value)
    except UnicodeEncodeError:
        pass
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise _invalid(value, error) from None
    try:
        return encode_strictly(without_surrogates(msgspec.to_builtins(value, str_keys=True, enc_hook=_plain)))
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise _invalid(value, error) from None


def _plain(value: Any) -> Any:
    if isinstance(value, Other):
        return value.data
    if isinstance(value, msgspec.Raw):
        return msgspec.json.decode(value)
    return encode_unknown(value)


def _invalid(value: Any, error: Exception) -> InvalidValue:
    if isinstance(error, RecursionError):
        return InvalidValue("the value is nested too deeply to be sent")
    path, found = _find(value)
    kind = type(found).__name__
    why = f"{'an' if kind[:1] in 'AEIOUaeiou' else 'a'} {kind} can't be sent as JSON"
    return InvalidValue(f"{path}: {why}" if path else why, argument=path)


def _find(value: Any) -> tuple[str, Any]:
    """Find the first part of a value that JSON can't represent. Returns its path and the part."""
    path = ""
    while True:
        for key, part in _parts(value):
            try:
                encode_strictly(part)
            except UnicodeEncodeError:
                continue
            except (TypeError, ValueError, OverflowError):
                path, value = f"{path}{key}" if key.startswith("[") or not path else f"{path}.{key}", part
                break
        else:
            return path, value


def _parts(value: Any) -> list[tuple[str, Any]]:
    match value:
        case msgspec.Struct():
            fields = type(value).__struct_fields__
            return [(name, getattr(value, name)) for name in fields if getattr(value, name) is not msgspec.UNSET]
        case dict():
            return [(str(key), part) for key, part in value.items()]
        case list() | tuple():
            return [(f"[{index}]", part) for index, part in enumerate(value)]
    return []
