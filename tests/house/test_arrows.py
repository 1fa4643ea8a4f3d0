"""The direction of imports: each package lists the packages it may import, and docs/design.md shows them in order."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "accord"

# The packages that each package (a directory or a module of `accord`) may import.
ARROWS: dict[str, set[str]] = {
    "errors": set(),
    "terminal_text": set(),
    "version": set(),
    "git_patch": set(),
    "rpc": {"errors"},
    "schema": {"errors", "rpc", "git_patch"},
    "model": {"errors", "schema", "git_patch"},
    "process": {"errors"},
    "config": {"errors", "version", "model", "process"},
    "status": {"errors", "terminal_text", "config"},
    "workspace": {"errors", "process", "model", "config"},
    "policy": {"errors", "schema", "model", "config"},
    "transports": {"errors", "process", "version"},
    "connection": {"errors", "rpc", "schema", "transports"},
    "mcp": {"errors", "schema", "model", "process", "config", "transports", "version"},
    "codec": {"schema", "model"},
    "transcript": {"schema", "model", "codec"},
    "store": {"errors", "schema", "model", "transcript", "config"},
    "agent": {
        "errors",
        "rpc",
        "schema",
        "model",
        "transports",
        "connection",
        "codec",
        "store",
        "workspace",
        "version",
        "mcp",
    },
    "remote": {"errors", "rpc", "schema", "model", "transports", "config", "version", "mcp"},
    "client": {
        "errors",
        "process",
        "remote",
        "schema",
        "model",
        "transports",
        "connection",
        "codec",
        "transcript",
        "workspace",
        "policy",
        "config",
        "version",
        "mcp",
        "agent",
    },
    "proxy": {"errors", "rpc", "schema", "model", "transports", "connection", "mcp", "remote", "client"},
    "sync": {"errors", "client", "model", "transcript", "transports"},
    "v1": {"connection", "schema", "transports"},
    "v2": {"connection", "schema", "transports"},
    "serve": {"agent", "transports"},
    "testing": {"errors", "model", "agent", "client", "transports", "transcript", "store"},
    "hub": {
        "errors",
        "rpc",
        "schema",
        "model",
        "process",
        "config",
        "workspace",
        "policy",
        "transports",
        "connection",
        "codec",
        "store",
        "client",
        "version",
    },
    "server": {"errors", "process", "config", "model", "transports", "connection", "hub", "version"},
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
    "tui": {
        "errors",
        "terminal_text",
        "process",
        "model",
        "client",
        "transcript",
        "store",
        "policy",
        "config",
        "workspace",
        "version",
        "status",
    },
}
ARROWS["cli"] = set(ARROWS)  # commands import what they need when they are called
ARROWS["__main__"] = {"cli"}
# Modules that may follow an arrow alone: `connect` accepts an Agent object, and joins it in memory.
ONLY_IN = {("client", "agent"): {"client/launch.py", "client/connect.py"}}


def list_modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path.name != "__init__.py" or path.parent != SOURCE)


def package_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def find_imports(path: Path) -> Iterator[str]:
    """Yield the packages that a module imports, including in functions and for type checkers."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            if name == "accord" and isinstance(node, ast.ImportFrom):
                yield from (alias.name for alias in node.names)
            elif name.startswith("accord."):
                yield name.split(".")[1]


def test_every_package_has_a_row() -> None:
    assert {package_of(path) for path in list_modules()} == set(ARROWS)


@pytest.mark.parametrize("path", list_modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_arrow_points_the_wrong_way(path: Path) -> None:
    here = package_of(path)
    for target in set(find_imports(path)) - {here}:
        assert target in ARROWS[here], f"{path.relative_to(SOURCE)} imports {target}, which {here} may not"
        allowed = ONLY_IN.get((here, target), {str(path.relative_to(SOURCE))})
        assert str(path.relative_to(SOURCE)) in allowed, f"{here} may import {target} only in {sorted(allowed)}"


def test_the_arrows_form_no_cycle() -> None:
    below: dict[str, set[str]] = {}

    def reach(name: str, path: tuple[str, ...] = ()) -> set[str]:
        assert name not in path, f"a cycle: {' → '.join((*path, name))}"
        if name not in below:
            below[name] = set().union(*(reach(each, (*path, name)) | {each} for each in ARROWS[name]))
        return below[name]

    for name in ARROWS:
        reach(name)


def test_the_table_in_the_design_lists_every_package_below_those_it_imports() -> None:
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8").partition("## Packages")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`[^|]+) \|", text, re.MULTILINE)
    rows = {name: number for number, cell in enumerate(cells) for name in re.findall(r"`(\w+)`", cell)}
    assert set(rows) == set(ARROWS), "update the table under Packages in docs/design.md"
    upwards = [(name, other) for name, others in ARROWS.items() for other in others if rows[other] > rows[name]]
    assert upwards == [], "a package imports one that is below it in docs/design.md"


@pytest.mark.parametrize("document", ["design", "extending", "glossary"])
def test_every_module_that_a_document_names_exists(document: str) -> None:
    path = ROOT / "docs" / f"{document}.md"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    named = {name for name in re.findall(r"`([\w/]+\.py)(?:`|::)", text) if "/" in name}
    missing = [name for name in sorted(named) if not (SOURCE / name).exists() and not (ROOT / name).exists()]
    assert missing == [], f"{path.name} names modules that don't exist"


def test_a_wrong_arrow_would_be_reported(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text("def f():\n    from accord.agent.run import run\nimport accord.tui\nfrom accord import v1\n")
    assert sorted(find_imports(module)) == ["agent", "tui", "v1"]
