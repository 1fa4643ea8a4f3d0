"""What the documents show of the command line is true: every block for a shell is run, and every table of TOML read."""

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

from accord.config.settings import parse
from accord.policy.memory import Memory
from accord.policy.settings import permissions

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *(ROOT / "docs" / name for name in ("cli.md", "policy.md", "sessions.md"))]
NEEDED = ("jq",)
"""What the blocks use and not every machine has."""


def blocks(language: str) -> Iterator[Any]:
    """Each block, and the output that the document shows for it."""
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
            pytest.skip(f"{program} is not installed")
    done = in_shell(block, tmp_path)
    assert done.returncode == 0, done.stdout
    assert "Traceback" not in done.stdout
    assert shown is None or matches(shown, done.stdout), f"the document shows\n{shown}\nbut it is\n{done.stdout}"


def in_shell(block: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a block as somebody would who stands in the checkout, with folders of their own for what it keeps."""
    here = folder / "checkout"
    here.mkdir()
    (here / "examples").symlink_to(ROOT / "examples")
    (here / "README.md").symlink_to(ROOT / "README.md")
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("ACCORD_", "XDG_"))}
    environment = {
        **ours,
        "HOME": str(folder),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
    }
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", block],
        cwd=here,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("block", ["accord run --no-such-option | cat\ntrue", "echo one"])
def test_a_block_that_fails_would_be_seen(block: str, tmp_path: Path) -> None:
    done = in_shell(block, tmp_path)
    assert done.returncode != 0 or not matches("two\n", done.stdout)


def test_what_the_first_block_makes_can_be_made() -> None:
    (first,) = (each.values[0] for each in blocks("sh") if is_about_the_checkout(each.values[0]))
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    wanted = re.findall(r"^make (\S+)", str(first), re.MULTILINE)
    assert wanted and set(wanted) <= set(targets)


@pytest.mark.parametrize("block, shown", list(blocks("toml")))
def test_every_table_can_be_read(block: str, shown: str | None, tmp_path: Path) -> None:
    if "[[rule]]" in block:
        memory = Memory(tmp_path / "permissions.toml")
        memory.path.write_text(block, encoding="utf-8")
        memory.path.chmod(0o600)
        project = tomllib.loads(block)["rule"][0]["project"]
        assert memory.faults == [] and len(memory.rules(project)) == block.count("[[rule]]")
        return
    settings = parse(block, tmp_path / "config.toml")
    assert permissions(settings.permissions).rules or settings.agents
