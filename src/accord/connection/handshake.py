"""Version and capabilities: which version two sides speak, decided from what each says of itself."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from accord.errors import UNSUPPORTED_VERSION, RequestFailed, VersionError
from accord.schema.common.numbers import ProtocolVersion
from accord.schema.method import Method
from accord.schema.repair import Unreadable

# Read as it came: which type the params have is known only once the version is.
INITIALIZE: Method[msgspec.Raw, msgspec.Raw] = Method(
    name="initialize", served_by="agent", params=msgspec.Raw, result=msgspec.Raw
)


def requested_version(params: Any) -> int:
    """The version a client asks for. Raises `Unreadable` when it is missing or no version."""
    if not isinstance(params, dict):
        raise Unreadable("", "params must be an object")
    if "protocolVersion" not in params:
        raise Unreadable("protocolVersion", "is missing")
    try:
        version: int = msgspec.convert(params["protocolVersion"], ProtocolVersion)
    except msgspec.ValidationError:
        raise Unreadable("protocolVersion", "must be an integer from 0 to 65535") from None
    return version


def choose(requested: int, enabled: Collection[int]) -> int:
    """The version an agent answers with: the highest it has that is not above the request.

    An agent that speaks version 1 alone answers 1 to everything, as version 1 has it."""
    if set(enabled) == {1}:
        return 1
    fitting = [version for version in enabled if version <= requested]
    if not fitting:
        supported = sorted(enabled)
        raise RequestFailed(
            f"initialize: version {requested} is not supported; this agent speaks {', '.join(map(str, supported))}",
            code=UNSUPPORTED_VERSION,
            data={"requested": requested, "supported": supported},
        )
    return max(fitting)


def agreed_version(answer: Any, enabled: Collection[int]) -> int:
    """The version an agent's answer speaks, judged by its shape as well as its number.

    Agents exist that repeat the number they were asked for: version 2 always has `info`, so without it it is 1. A
    number above all that we know was not asked for by anybody, and is taken at its word."""
    if not isinstance(answer, dict):
        raise VersionError("initialize: the agent's answer is not an object")
    try:
        version: int = msgspec.convert(answer.get("protocolVersion"), ProtocolVersion)
    except msgspec.ValidationError:
        raise VersionError("initialize: the agent's answer has no protocolVersion") from None
    if version == 2 and not isinstance(answer.get("info"), dict):
        version = 1
    if version not in enabled:
        ours = " and ".join(str(v) for v in sorted(enabled))
        raise VersionError(
            f"initialize: the agent speaks protocol version {version}, this client {ours}; update one of the two"
        )
    return version


def version_to_retry(error: RequestFailed, enabled: Collection[int], tried: int) -> int | None:
    """After "unsupported version": the highest version that the error offers and we have, if any."""
    supported = error.data.get("supported") if isinstance(error.data, dict) else None
    if error.code != UNSUPPORTED_VERSION or not isinstance(supported, list):
        return None
    fitting = [version for version in supported if type(version) is int and version in enabled and version != tried]
    return max(fitting, default=None)
