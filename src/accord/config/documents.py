"""Reading JSON that others wrote: registries, and lists of servers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from accord.errors import ConfigError


def read_object(path: str | os.PathLike[str], name: str = "") -> dict[str, Any]:
    """The object that a file holds, or `ConfigError`; `name` is what it is called there, unless by its path."""
    name = name or os.fspath(path)
    try:
        document = msgspec.json.decode(Path(path).read_bytes())
    except OSError as error:
        raise ConfigError(f"{name}: cannot be read: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise ConfigError(f"{name}: is no JSON: {error}") from None
    except RecursionError:
        raise ConfigError(f"{name}: is nested too deeply") from None
    if not isinstance(document, dict):
        raise ConfigError(f"{name}: expected a JSON object")
    return document
