"""Our output matches the published schemas, and valid input survives a round trip through our types."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

import jsonschema_rs
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schema import published_schemas
from schema.generate import Generator
from schema.strategies import instances
from support.prerequisites import needs

from accord.schema import v1, v2
from accord.schema.repair import read
from accord.schema.shape import Message, Other, Untagged
from accord.schema.wire import encode

pytestmark = needs(published_schemas.missing())

EXAMPLES = int(os.environ.get("ACCORD_EXAMPLES", "5"))
MODULES: dict[int, Any] = {1: v1, 2: v2}

# A published type that is both a variant and a field's type has two classes here; this is the one without a tag.
UNTAGGED = {"ToolCallUpdate": "ToolCallPatch", "StateUpdate": "StateSnapshot"}

# Published without the fields that their union adds, which our class has; generated as the union.
PARTLY = {
    "ElicitationFormMode": "CreateElicitationRequest",
    "ElicitationUrlMode": "CreateElicitationRequest",
    "SessionConfigBoolean": "SessionConfigOption",
    "SessionConfigSelect": "SessionConfigOption",
}
# Unions that are one class here, with the fields of all their variants.
FLAT = frozenset({"IdleStateUpdate"})


def ours(version: int, name: str) -> Any:
    """Our type for a published one."""
    module = MODULES[version]
    if name in UNTAGGED and hasattr(module, UNTAGGED[name]):
        name = UNTAGGED[name]
    return getattr(module, name)


def names(version: int, *, unstable: bool = True) -> Iterator[str]:
    """Every published type but the envelopes around them."""
    if published_schemas.folder() is None:
        return
    for name, node in published_schemas.schema(version, unstable=unstable)["$defs"].items():
        if not node.get("x-docs-ignore"):
            yield name


def decode_text(wanted: Any, text: bytes) -> Any:
    """As a connection reads: strictly, and forgivingly what the strict reading refused."""
    try:
        return msgspec.json.decode(text, type=wanted)
    except msgspec.ValidationError:
        return read(wanted, json.loads(text))


@cache
def schemas(version: int) -> dict[str, Any]:
    return published_schemas.schema(version, unstable=True)


@cache
def validator(version: int, name: str) -> Any:
    schema = {**schemas(version), "$ref": f"#/$defs/{name}"}
    del schema["anyOf"]
    return jsonschema_rs.validator_for(schema, validate_formats=True)


# Words that are open here and closed in the schema: any is read, but only these are written.
CLOSED = {(1, name): get_args(getattr(v1, name))[0] for name in ("StopReason", "PermissionOptionKind")}


@pytest.mark.req("V2-SDK-03", "V2-UPD-15")
@pytest.mark.parametrize(("version", "name"), [(version, name) for version in (1, 2) for name in names(version)])
@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_what_we_write_fits_the_published_schema_and_is_read_back_the_same(
    version: int, name: str, data: st.DataObject
) -> None:
    wanted = ours(version, name)
    message = data.draw(instances(CLOSED.get((version, name), wanted)))
    text = encode(message)
    validator(version, name).validate(json.loads(text))
    assert decode_text(wanted, text) == message


@pytest.mark.parametrize("version", [1, 2])
def test_every_class_is_reached_from_a_published_type(version: int) -> None:
    module = MODULES[version]
    reached: set[Any] = set()
    for name in names(version):
        reach(ours(version, name), reached)
    if version == 1:  # early agents have these, no schema has them
        reached |= {v1.SetSessionModelRequest, v1.SetSessionModelResponse}
    classes = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Message)]
    assert [cls.__name__ for cls in classes if not any(issubclass(known, cls) for known in reached)] == []


def reach(wanted: Any, reached: set[Any]) -> None:
    if isinstance(wanted, type) and issubclass(wanted, Message):
        if wanted not in reached:
            reached.add(wanted)
            for info in msgspec.structs.fields(wanted):
                reach(info.type, reached)
        return
    for part in get_args(wanted):
        if isinstance(part, Untagged):
            for member in part.members:
                reach(member, reached)
        else:
            reach(part, reached)


@pytest.mark.req("V2-SDK-03", "V2-UPD-05", "V2-UPD-15")
@pytest.mark.parametrize(
    ("version", "stability", "name"),
    [
        (version, stability, name)
        for version in (1, 2)
        for stability in ("stable", "unstable")
        for name in names(version, unstable=stability == "unstable")
    ],
)
def test_what_fits_the_published_schema_comes_back_from_our_types_as_it_was(
    version: int, stability: str, name: str
) -> None:
    wanted = ours(version, name)
    if name in PARTLY:
        name = PARTLY[name]
        wanted = ours(version, name)
    for instance in generator(version, stability).instances(name, count=EXAMPLES):
        validator(version, name).validate(instance)
        if tag := getattr(wanted, "__struct_config__", None) and wanted.__struct_config__.tag:
            instance = {**instance, wanted.__struct_config__.tag_field: tag}
        message = decode_text(wanted, json.dumps(instance).encode())
        assert list(differences(instance, json.loads(encode(message)))) == []
        assert unknown_in(message) == json.dumps(instance).count('"keptByNobody"'), "a known variant is not recognized"


def unknown_in(message: Any) -> int:
    """Count the unknown variants in a message."""
    if isinstance(message, Other):
        return 1
    if isinstance(message, list):
        return sum(unknown_in(item) for item in message)
    if isinstance(message, dict):
        return sum(unknown_in(item) for item in message.values())
    return sum(unknown_in(getattr(message, name)) for name in getattr(message, "__struct_fields__", ()))


@cache
def generator(version: int, stability: str) -> Generator:
    return Generator(published_schemas.schema(version, unstable=stability == "unstable"), flat=FLAT)


def differences(theirs: Any, ours: Any, where: str = "") -> Iterator[str]:
    """List what was lost, changed or added. Unknown keys may be lost and defaults added."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key, value in theirs.items():
            if (key == "line" and value == 0) or (key == "size" and isinstance(value, int) and value < 0):
                continue  # the first version's schema lets these through, though they say nothing
            if key in ours:
                yield from differences(value, ours[key], f"{where}.{key}")
            elif not key.startswith("dropped") and (key, value) != ("additionalDirectories", []):
                yield f"{where}.{key}: {value!r} was lost"
        for key in ours.keys() - theirs.keys():
            if not is_default(ours[key]):
                yield f"{where}.{key}: {ours[key]!r} was made up"
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for index, (a, b) in enumerate(zip(theirs, ours, strict=True)):
            yield from differences(a, b, f"{where}[{index}]")
    elif theirs != ours or isinstance(theirs, bool) != isinstance(ours, bool):
        yield f"{where}: {theirs!r} became {ours!r}"


def is_default(value: Any) -> bool:
    if isinstance(value, dict):
        return all(is_default(part) for part in value.values())
    return value in ([], False, "object", "other", "pending")
