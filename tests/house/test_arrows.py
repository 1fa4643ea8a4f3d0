"""The rooms of the house and which may import which: read from the source, so that no arrow points the wrong way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "accord"

GROUND = {"errors", "version"}
# What each room may import besides itself. A room is a folder or a module of the package.
ARROWS: dict[str, set[str]] = {
    "errors": set(),
    "version": set(),
    "rpc": {"errors"},
    "schema": set(),
    "model": {"schema"},
    "process": {"errors"},
    "config": {"errors", "version", "model", "process"},
    "workspace": {"errors", "process", "model", "config"},
    "policy": {"errors", "schema", "model", "config"},
    "transports": {"errors", "process"},
    "connection": {"errors", "rpc", "schema", "transports"},
    "transcript": {"schema", "model"},
    "store": {"errors", "schema", "model", "transcript", "config"},
    "agent": {
        "errors",
        "rpc",
        "schema",
        "model",
        "transports",
        "connection",
        "transcript",
        "store",
        "workspace",
        "version",
    },
    "client": {
        "errors",
        "schema",
        "model",
        "transports",
        "connection",
        "transcript",
        "workspace",
        "policy",
        "config",
        "version",
        "agent",
    },
    "sync": {"errors", "client", "model", "transcript"},
    "v1": {"connection", "schema", "transports"},
    "v2": {"connection", "schema", "transports"},
    "serve": {"agent", "transports"},
    "testing": {"errors", "model", "agent", "client", "transports", "store"},
    "showcase": {"agent", "model", "errors"},
    "coder": {
        "errors",
        "model",
        "agent",
        "store",
        "policy",
        "config",
        "workspace",
        "process",
        "transports",
        "transcript",
        "version",
    },
    "tui": {"errors", "process", "model", "client", "transcript", "store", "policy", "config", "workspace", "version"},
}
ARROWS["cli"] = set(ARROWS)  # commands use whatever they need, when called
ARROWS["__main__"] = {"cli"}
# The one place where a client knows of agents: an Agent object is a target that `connect` joins in memory.
ONLY_IN = {("client", "agent"): {"client/launch.py", "client/connect.py"}}


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path.name != "__init__.py" or path.parent != SOURCE)


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    """The rooms that a module names in its imports, those inside functions and for type checkers included."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            if name == "accord" and isinstance(node, ast.ImportFrom):
                yield from (alias.name for alias in node.names)
            elif name.startswith("accord."):
                yield name.split(".")[1]


def test_every_room_is_on_the_plan() -> None:
    assert {room(path) for path in modules()} == set(ARROWS)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_arrow_points_the_wrong_way(path: Path) -> None:
    here = room(path)
    for target in set(imports(path)) - {here}:
        assert target in ARROWS[here], f"{path.relative_to(SOURCE)} imports {target}, which {here} may not"
        allowed = ONLY_IN.get((here, target))
        assert allowed is None or str(path.relative_to(SOURCE)) in allowed, f"{here} knows {target} in one place only"


def test_the_plan_has_no_circle() -> None:
    below: dict[str, set[str]] = {}

    def reach(name: str, path: tuple[str, ...] = ()) -> set[str]:
        assert name not in path, f"a circle: {' → '.join((*path, name))}"
        if name not in below:
            below[name] = set().union(*(reach(each, (*path, name)) | {each} for each in ARROWS[name]))
        return below[name]

    for name in ARROWS:
        reach(name)


def test_a_wrong_arrow_would_be_seen(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text("def f():\n    from accord.agent.run import run\nimport accord.tui\nfrom accord import v1\n")
    assert sorted(imports(module)) == ["agent", "tui", "v1"]
