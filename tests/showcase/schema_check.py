"""Check the messages of a conversation against the published schemas, including the unstable ones."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema_rs
from schema import published_schemas


@cache
def _validator(version: int, kind: str) -> Any:
    whole = published_schemas.schema(version, unstable=True)
    return jsonschema_rs.validator_for({"$defs": whole["$defs"], "$ref": f"#/$defs/{kind}"})


@cache
def _types(version: int) -> dict[str, tuple[str, str | None]]:
    """By method: the published type of its params, and of its result."""
    found: dict[str, list[str | None]] = {}
    for name, kind in published_schemas.schema(version, unstable=True)["$defs"].items():
        if "x-method" in kind:
            pair = found.setdefault(kind["x-method"], ["", None])
            pair[1 if name.endswith("Response") else 0] = name
    return {method: (str(pair[0]), pair[1]) for method, pair in found.items()}


class Watched:
    """Everything that went by on a connection."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, direction: str, block: bytes) -> None:
        self.lines.extend((direction, json.loads(line)) for line in block.splitlines())

    @property
    def updates(self) -> list[dict[str, Any]]:
        """The updates that the agent sent."""
        return [line["params"]["update"] for _, line in self.lines if line.get("method") == "session/update"]

    def faults(self, version: int) -> list[str]:
        """Return the messages that don't fit, except deliberate extensions of the protocol."""
        asked: dict[Any, str] = {}
        found: list[str] = []
        for direction, message in self.lines:
            if "method" in message:
                asked[direction, message.get("id")] = method = message["method"]
                if method.startswith("_"):
                    continue
                kind, value = _types(version)[method][0], message["params"]
                if value.get("update", {}).get("sessionUpdate", "").startswith("_"):
                    continue
            elif "result" in message:
                method = asked["in" if direction == "out" else "out", message["id"]]
                if method.startswith("_"):
                    continue
                kind, value = str(_types(version)[method][1]), message["result"]
            else:
                continue
            found += [
                f"{kind}: {error.message} in {json.dumps(value)[:300]}"
                for error in _validator(version, kind).iter_errors(value)
            ]
        return found
