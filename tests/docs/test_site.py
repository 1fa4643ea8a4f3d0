"""The documentation site: it builds without warnings, is complete, and needs nothing from other hosts."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import accord
import accord.proxy
import accord.testing

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "docs" / "site"
sys.path.append(str(SCRIPTS))  # the scripts import each other by name, as `make docs` runs them
api, build, check, settings = (importlib.import_module(name) for name in ("api", "build_site", "check", "settings"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site, in a separate directory: other workers may build it, too."""
    folder = tmp_path_factory.mktemp("docs") / "build"
    command = [sys.executable, str(SCRIPTS / "build_site.py")]
    environment = {**os.environ, "DOCS_BUILD": str(folder)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def test_every_page_has_a_markdown_twin_and_a_line_for_language_models(site: Path) -> None:
    index = (site / "llms.txt").read_text(encoding="utf-8")
    pages = [page.relative_to(site) for page in site.rglob("*.html") if page.name != "404.html"]
    assert len(pages) > 50
    assert [page for page in pages if not (site / page.with_suffix(".md")).exists()] == []
    assert [page for page in pages if f"/{page.with_suffix('.md').as_posix()})" not in index] == []
    assert [line for line in index.splitlines() if line.endswith("): ")] == []


def test_the_text_for_language_models_has_the_pages_in_order(site: Path) -> None:
    whole = (site / "llms-full.txt").read_text(encoding="utf-8")
    titles = re.findall(r"^# .+$", (site / "index.md").read_text(encoding="utf-8") + whole, re.MULTILINE)
    assert titles[0] == titles[1]
    assert whole.index("# Getting started") < whole.index("# Build an agent") < whole.index("# Troubleshooting")


def test_search_knows_the_text_of_the_pages(site: Path) -> None:
    index = (site / "search.json").read_text(encoding="utf-8")
    assert "take_prompts" in index and "ACCORD_CACHE_HOME" in index


def test_code_in_tables_has_no_backslashes(site: Path) -> None:
    page = "reference/agents"
    assert "<code>str | None</code>" in (site / f"{page}.html").read_text(encoding="utf-8")
    assert "`str \\| None`" in (site / f"{page}.md").read_text(encoding="utf-8")


def test_pages_load_nothing_from_other_hosts(site: Path) -> None:
    assert check.find_problems(site) == []
    assert [page for page in site.rglob("*.html") if build.REPOSITORY_FACTS in page.read_text(encoding="utf-8")] == []
    images = [
        path for path in site.rglob("*.svg") if "http" in "".join(check.IN_STYLE.findall(path.read_text("utf-8")))
    ]
    assert images == []


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ('<a href="missing.html">', "no such page"),
        ('<a href="#missing">', "no such anchor"),
        ('<a href="other.html#missing">', "no such anchor"),
        ('<script src="https://example.com/a.js"></script>', "loads"),
        ('<link rel="stylesheet" href="//example.com/a.css">', "loads"),
        ('<img src="missing.png">', "no such page"),
    ],
)
def test_a_problem_of_a_page_would_be_reported(page: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(page)
    (tmp_path / "other.html").write_text('<h1 id="here"><a href="https://example.com/">')
    assert [problem in found for found in check.find_problems(tmp_path)] == [True]


def test_a_page_that_is_not_in_the_navigation_would_be_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "forgotten.md").write_text("# Forgotten\n")
    monkeypatch.setattr(build, "PAGES", tmp_path)
    problems = build.find_missing_pages()
    assert "mkdocs.yml: forgotten.md isn't in nav" in problems
    assert "mkdocs.yml: chat.md is in nav, but doesn't exist" in problems


def test_every_link_to_a_generated_page_names_one() -> None:
    names = {"commands", "configuration", "v1", "v2", *api.PAGES}
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")}
    linked = {name for text in texts.values() for name in re.findall(r"\]\((?:\.\./)?reference/(\w+)\.md", text)}
    assert linked <= names


# -- the reference is complete


def test_every_public_name_is_in_the_reference() -> None:
    assert sorted(api.list_exported()) == sorted(set(accord.__all__) - {"__version__"})
    for module in (accord.testing, accord.proxy):
        shown = {name for page in api.PAGES.values() for name in page.names.get(module.__name__, ())}
        assert shown == set(module.__all__)


@pytest.fixture(scope="module")
def writer() -> Any:
    return api.Writer()


def test_every_public_name_and_method_is_documented(writer: Any) -> None:
    assert list(writer.find_undocumented()) == []


def test_every_variable_that_the_code_reads_is_in_the_reference() -> None:
    known = set(settings.VARIABLES) | set(settings.INTERNAL)
    assert settings.variables_read() == known


def test_every_key_of_the_configuration_has_a_meaning() -> None:
    rows = [line for part in settings.configuration() for line in part.splitlines() if line.startswith("| `")]
    assert len(rows) > 30
    assert [row for row in rows if row.endswith("|  |")] == []
