"""The documents are true about the command line: every shell block runs, and every TOML block is valid."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from docs.blocks import FENCE, matches
from support.ports import find_free_port
from support.prerequisites import require

from accord.config.settings import parse
from accord.policy.remembered_rules import RememberedRules
from accord.policy.sources import parse_permissions

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "examples" / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("cli", "connect-a-laptop", "policy", "serve", "sessions", "testing")),
]
NEEDED = ("curl", "jq")
"""Programs that the blocks use and some machines lack."""
PORT = "8765"
"""The default port of a server; blocks that start one get another port."""
END_JOBS = "trap 'kill $(jobs -p) 2>/dev/null || true; wait || true' EXIT\n"
"""Ends programs in the background, such as a server, with the block. Without any, `kill` fails, and `-e` is on."""


def blocks(language: str) -> Iterator[Any]:
    """Yield each block and its expected output."""
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        fences = list(FENCE.finditer(text))
        for fence, following in zip(fences, [*fences[1:], None], strict=True):
            if fence[1] != language:
                continue
            shown = None
            if following is not None and following[1] == "output" and not text[fence.end() : following.start()].strip():
                shown = following[2]
            line = text.count("\n", 0, fence.start()) + 2
            yield pytest.param(fence[2], shown, id=f"{document.name}:{line}")


def is_about_the_checkout(block: str) -> bool:
    return block.startswith("git clone")


@pytest.mark.parametrize("block, shown", [each for each in blocks("sh") if not is_about_the_checkout(each.values[0])])
def test_every_block_for_a_shell_runs(block: str, shown: str | None, tmp_path: Path) -> None:
    for program in NEEDED:
        if re.search(rf"\b{program}\b", block) and shutil.which(program) is None:
            require(f"{program} is not installed")
    done = in_shell(block.replace(PORT, str(find_free_port())) if PORT in block else block, tmp_path)
    assert done.returncode == 0, done.stdout
    assert "Traceback" not in done.stdout
    assert shown is None or matches(shown, done.stdout), f"the document shows\n{shown}\nbut it is\n{done.stdout}"


def in_shell(block: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a block as in a checkout, with a separate home directory."""
    here = folder / "checkout"
    here.mkdir()
    # Copies, because a link would lead out of the project, where agents may not read.
    shutil.copytree(ROOT / "examples", here / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "README.md", here)
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("ACCORD_", "XDG_"))}
    environment = {
        **ours,
        "HOME": str(folder),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
    }
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", END_JOBS + block],
        cwd=here,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("block", ["accord run --no-such-option | cat\ntrue", "echo one"])
def test_a_failing_block_would_be_reported(block: str, tmp_path: Path) -> None:
    done = in_shell(block, tmp_path)
    assert done.returncode != 0 or not matches("two\n", done.stdout)


def test_the_make_targets_of_the_first_block_exist() -> None:
    (first,) = (each.values[0] for each in blocks("sh") if is_about_the_checkout(each.values[0]))
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    wanted = re.findall(r"^make (\S+)", str(first), re.MULTILINE)
    assert wanted and set(wanted) <= set(targets)


@pytest.mark.parametrize("block, shown", list(blocks("toml")))
def test_every_table_can_be_read(block: str, shown: str | None, tmp_path: Path) -> None:
    if "[[rule]]" in block:
        memory = RememberedRules(tmp_path / "permissions.toml")
        memory.path.write_text(block, encoding="utf-8")
        memory.path.chmod(0o600)
        project = tomllib.loads(block)["rule"][0]["project"]
        assert memory.problems == [] and len(memory.rules(project)) == block.count("[[rule]]")
        return
    settings = parse(block, tmp_path / "config.toml")
    assert parse_permissions(settings.permissions).rules or settings.agents
