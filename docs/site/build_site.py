"""Build the documentation site into .cache/docs/site, or into the directory `site` of DOCS_BUILD.

1. Gather the pages in .cache/docs: docs/, a few other documents of the repository, and the generated reference.
2. Let Zensical build them, with warnings as errors.
3. Check the result: navigation, links, anchors, and that nothing is loaded from other hosts.
4. Add the Markdown twin of each page (`chat.md` beside `chat.html`), `llms.txt` and `llms-full.txt`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import api
import check
import commands
import settings
import wire
import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
CONFIGURATION = ROOT / "mkdocs.yml"
PROJECT = Path(os.environ.get("DOCS_BUILD") or ROOT / ".cache" / "docs")
"""A directory for Zensical alone: it removes the `.cache` that is beside its configuration."""
PAGES = PROJECT / "pages"
TWINS = PROJECT / "twins"
SITE = PROJECT / "site"
REPOSITORY = "https://github.com/accord-acp/accord/blob/main/"
FROM_ELSEWHERE = {
    "examples/README.md": "examples.md",
    "bench/RESULTS.md": "benchmarks.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",  # for links to it; docs/index.md is the page
}
LEDGERS = ("requirements.md", "features.md", "changelog.md", "benchmarks.md")
"""Pages that are left out of llms-full.txt: tables of test results, which need more room than all others together."""
UNSEARCHED = ("requirements.md", "benchmarks.md", "changelog.md")
"""Pages whose rows would hide everything else in the results of a search."""
NOT_SEARCHED = "---\nsearch:\n  exclude: true\n---\n"
FENCED = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"""(\]\()([^()\s]+)((?:\s+"[^"]*")?\))""")
COMMENT = re.compile(r"^<!-- .*? -->\n", re.MULTILINE)
CODE_IN_ROW = re.compile(r"^\|.*`.*\\\|.*$", re.MULTILINE)
CODE = re.compile(r"(`+)[^`].*?\1")
COLOR = re.compile(r"\x1b\[[\d;]*m")
WORKER_SHIM = "https://unpkg.com/iframe-worker/shim"
"""A script that the theme loads from another host, so that search works in pages opened as files."""
REPOSITORY_FACTS = ' data-md-component="source"'
"""Makes the theme ask GitHub for the number of stars."""
LOCAL_SHIM = "assets/file-worker.js"


def main() -> None:
    gather()
    build()
    problems = [*find_missing_pages(), *check.find_problems(SITE)]
    if problems:
        sys.exit("\n".join(problems))
    write_twins()
    write_llms()
    print(f"Built {os.path.relpath(SITE, ROOT)}/index.html")


def gather() -> None:
    """Gather all pages, so that every link between them works in the site."""
    shutil.rmtree(PROJECT, ignore_errors=True)
    places = {source: PAGES / name for name, source in list_sources()}
    for source, place in places.items():
        if source == ROOT / "README.md":
            continue
        write(place, rewrite_links(source.read_text(encoding="utf-8"), source, place, places))
    shutil.copy(CONFIGURATION, PROJECT)
    shutil.copytree(DOCS / "screenshots", PAGES / "screenshots")
    shutil.copytree(DOCS / "site" / "assets", PAGES / "assets")
    for name, text in generate_pages():
        write(PAGES / "reference" / name, text)


def list_sources() -> Iterator[tuple[str, Path]]:
    """Yield the place of each document in the site, and its path in the repository."""
    for name, place in FROM_ELSEWHERE.items():
        yield place, ROOT / name
    for path in sorted(DOCS.rglob("*.md")):
        yield path.relative_to(DOCS).as_posix(), path


def generate_pages() -> Iterator[tuple[str, str]]:
    """Yield the name and text of each generated page of the reference."""
    yield "commands.md", commands.page()
    yield "configuration.md", settings.page()
    yield from wire.pages()
    yield from api.Writer().pages()


def rewrite_links(text: str, source: Path, place: Path, places: dict[Path, Path]) -> str:
    """Point links at the site's pages, and links to other files at the repository."""

    def rewrite(match: re.Match[str]) -> str:
        name, separator, anchor = match[2].partition("#")
        if not name or ":" in name:
            return match[0]
        target = (source.parent / name).resolve()
        if target in places:
            name = Path(os.path.relpath(places[target], place.parent)).as_posix()
        elif target.exists() and not target.is_relative_to(DOCS / "screenshots"):
            name = REPOSITORY + target.relative_to(ROOT).as_posix()
        return f"{match[1]}{name}{separator}{anchor}{match[3]}"

    parts = FENCED.split(text)
    return "".join(
        part if number % 2 else LINK.sub(rewrite, COMMENT.sub("", part)) for number, part in enumerate(parts)
    )


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def unescape_code_in_tables(text: str) -> str:
    """Replace escaped pipes in the code of table cells: GitHub needs the backslash, and Zensical shows it."""
    parts = FENCED.split(text)
    return "".join(part if number % 2 else CODE_IN_ROW.sub(unescape, part) for number, part in enumerate(parts))


def unescape(row: re.Match[str]) -> str:
    return CODE.sub(lambda code: code[0].replace("\\|", "|"), row[0])


def build() -> None:
    """Run Zensical. It reports broken links and anchors with their line, and `strict` makes them errors."""
    shutil.copytree(PAGES, TWINS)
    for path in PAGES.rglob("*.md"):
        above = NOT_SEARCHED if path.name in UNSEARCHED else ""
        write(path, above + unescape_code_in_tables(path.read_text(encoding="utf-8")))
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    if done.returncode:
        sys.exit(COLOR.sub("", done.stdout + done.stderr.partition("Traceback")[0]))
    for path in SITE.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        shim = Path(os.path.relpath(SITE / LOCAL_SHIM, path.parent)).as_posix()
        path.write_text(text.replace(WORKER_SHIM, shim).replace(REPOSITORY_FACTS, ""), encoding="utf-8")


class Loader(yaml.SafeLoader):
    """Reads mkdocs.yml, which names Python functions."""


Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, tag, node: None)


def navigation() -> Iterator[tuple[list[str], str, str]]:
    """Yield the sections above each page of the navigation, its title and its path."""

    def walk(entries: list[dict[str, Any]], above: list[str]) -> Iterator[tuple[list[str], str, str]]:
        for entry in entries:
            ((title, value),) = entry.items()
            if isinstance(value, str):
                yield above, title, value
            else:
                yield from walk(value, [*above, title])

    yield from walk(yaml.load(CONFIGURATION.read_text(encoding="utf-8"), Loader)["nav"], [])


def find_missing_pages() -> list[str]:
    """Compare the navigation with the pages."""
    listed = [path for _, _, path in navigation()]
    exist = {path.relative_to(PAGES).as_posix() for path in PAGES.rglob("*.md")}
    problems = [f"mkdocs.yml: {path} is in nav, but doesn't exist" for path in listed if path not in exist]
    problems += [f"mkdocs.yml: {path} isn't in nav" for path in sorted(exist - set(listed))]
    return problems + [f"mkdocs.yml: {path} is in nav twice" for path in set(listed) if listed.count(path) > 1]


def write_twins() -> None:
    for path in TWINS.rglob("*.md"):
        write(SITE / path.relative_to(TWINS), path.read_text(encoding="utf-8"))


def write_llms() -> None:
    """Write the index for language models, and all pages in one file."""
    configuration = yaml.load(CONFIGURATION.read_text(encoding="utf-8"), Loader)
    index = [f"# {configuration['site_name']}\n\n> {configuration['site_description']}\n"]
    whole = []
    section: list[str] = []
    optional = []
    for above, title, path in navigation():
        text = (TWINS / path).read_text(encoding="utf-8")
        line = f"- [{title}]({configuration['site_url']}{path}): {summarize(text)}"
        if path in LEDGERS:
            optional.append(line)
            continue
        if above[:1] != section:
            section = above[:1]
            index.append(f"\n## {section[0] if section else 'More'}\n")
        index.append(line)
        whole.append(text.strip())
    index += ["\n## Optional\n", *optional]
    write(SITE / "llms.txt", "\n".join(index) + "\n")
    write(SITE / "llms-full.txt", "\n\n".join(whole) + "\n")


def summarize(text: str) -> str:
    """Return the first sentence of a page, without links."""
    paragraphs = [each.strip() for each in FENCED.sub("", text).split("\n\n")]
    prose = [each for each in paragraphs if each and each[0] not in "#|<!-"]
    plain = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", " ".join(prose[0].split())) if prose else ""
    return re.split(r"(?<=[a-z0-9)`])[.:](?:\s|$)", plain)[0] + "." if plain else ""


if __name__ == "__main__":
    main()
