"""Version negotiation: which protocol version both sides use."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from accord.errors import UNSUPPORTED_VERSION, RequestFailed, VersionError
from accord.schema.common.numbers import ProtocolVersion
from accord.schema.method import Method
from accord.schema.repair import Unreadable, read

# Not decoded: the type of the params depends on the version.
INITIALIZE: Method[msgspec.Raw, msgspec.Raw] = Method(
    name="initialize", served_by="agent", params=msgspec.Raw, result=msgspec.Raw
)


def requested_version(params: Any) -> int:
    """Return the version that a client requests. Raises `Unreadable` if it is missing or invalid."""
    if not isinstance(params, dict):
        raise Unreadable("", "params must be an object")
    if "protocolVersion" not in params:
        raise Unreadable("protocolVersion", "is missing")
    return _version("protocolVersion", params["protocolVersion"])


def _version(where: str, value: Any) -> int:
    try:
        version: int = read(ProtocolVersion, value)
    except Unreadable:
        raise Unreadable(where, "must be an integer from 0 to 65535") from None
    return version


def choose(requested: int, enabled: Collection[int]) -> int:
    """Choose the version of an agent's response: the highest supported one that doesn't exceed the request.

    An agent that supports only version 1 always responds with 1, as version 1 of the protocol requires."""
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
    """Return the version of an agent's response, judged by its fields as well as its number.

    Some agents repeat the number of the request. Version 2 always has `info`, so a response without it is version 1. A
    number above all known ones can't be such a repetition, so it is trusted."""
    if not isinstance(answer, dict):
        raise VersionError("initialize: the agent's response is not an object")
    if "protocolVersion" not in answer:
        raise VersionError("initialize: the agent's response has no protocolVersion")
    try:
        version = _version("protocolVersion", answer["protocolVersion"])
    except Unreadable as error:
        raise VersionError(f"initialize: the agent's response is invalid: {error}") from None
    if version == 2 and not isinstance(answer.get("info"), dict):
        version = 1
    if version not in enabled:
        ours = " and ".join(str(v) for v in sorted(enabled))
        raise VersionError(
            f"initialize: the agent speaks protocol version {version}, this client {ours}; update one of the two"
        )
    return version


def version_to_retry(error: RequestFailed, enabled: Collection[int], tried: int) -> int | None:
    """Return the highest version in an "unsupported version" error that we support too, if any."""
    supported = error.data.get("supported") if isinstance(error.data, dict) else None
    if error.code != UNSUPPORTED_VERSION or not isinstance(supported, list):
        return None
    fitting = [int(each) for each in supported if type(each) in (int, float) and each in enabled and each != tried]
    return max(fitting, default=None)
