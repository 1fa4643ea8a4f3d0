"""Write an AGENTS.md: what the project is, its layout and its commands, as far as its files show."""

from __future__ import annotations

import re

from accord.coder.offline import requests as r
from accord.coder.offline.actions.about import READMES, first_paragraph
from accord.coder.offline.actions.commands import inspect_project
from accord.coder.offline.replies import pluralize
from accord.coder.offline.script import Script, Situation, call, data_of, use
from accord.coder.offline.tasks import TASKS, Project

BEGIN = "<!-- found by accord: begin -->"  # Marks in users' files: don't change them.
END = "<!-- found by accord: end -->"
LABELS = {"test": "Run the tests", "lint": "Lint", "format": "Format", "build": "Build"}
DIRECTORIES = {
    "src": "the source",
    "lib": "the source",
    "tests": "the tests",
    "test": "the tests",
    "docs": "the documentation",
    "doc": "the documentation",
    "examples": "examples",
    "scripts": "development scripts",
    ".github": "GitHub workflows",
    "benchmarks": "benchmarks",
}


def describe(step: r.DescribeProject, situation: Situation) -> Script[str]:
    situation.require("list_files", "read_file", "write_file")
    project = yield from inspect_project(situation, "Looking at the project…", *READMES, step.path)
    counts: dict[str, int] = {}
    if "outline" in situation.tools:
        (result,) = yield from use(situation, "Outlining the project…", call("outline", path="."), lenient=True)
        counts = {} if result.failed else data_of(result)["directories"]
    before = project.texts.get(step.path)
    content = render(project, counts)
    if before is not None:
        content = merge(before, content)
    if before == content:
        return f"`{step.path}` is already up to date."
    (result,) = yield from use(
        situation, f"Writing `{step.path}`…", call("write_file", file_path=step.path, content=content)
    )
    found = [LABELS[task].lower() for task in TASKS if project.command(task)]
    how = f" It lists the commands to {', '.join(found)}." if found else " Found no test or lint command; add yours."
    done = "Updated" if before is not None else "Wrote"
    return f"{done} `{step.path}`.{how} Review it: it only contains what could be found automatically."


def render(project: Project, counts: dict[str, int]) -> str:
    """Render the text. `counts` has the number of files in each directory."""
    name = project.name() or "This project"
    lines = [f"# {name}", "", BEGIN, ""]
    about = project.description() or _first_words(project)
    languages = project.languages()
    lines += [about, ""] if about else []
    lines += [f"Written in {', '.join(languages)}.", ""] if languages else []
    folders = [each.rstrip("/") for each in project.names if each.endswith("/")]
    folders = [each for each in folders if not each.startswith(".") or each in DIRECTORIES]
    if folders:
        lines += ["## Layout", "", *(_folder(folder, counts.get(folder)) for folder in folders[:30]), ""]
    commands = [(task, found) for task in TASKS if (found := project.command(task))]
    if commands:
        lines += ["## Commands", ""]
        lines += [f"- {LABELS[task]}: `{command}` (from {where})" for task, (command, where) in commands]
        lines += [""]
    conventions = _conventions(project)
    if conventions:
        lines += ["## Conventions", "", *(f"- {each}" for each in conventions), ""]
    return "\n".join([*lines, END]) + "\n"


def _folder(name: str, files: int | None) -> str:
    about = f": {DIRECTORIES[name]}" if name in DIRECTORIES else ""
    return f"- `{name}/`{about}" + (f" ({pluralize(files, 'file')})" if files is not None else "")


def _first_words(project: Project) -> str:
    """Return the first paragraph of the README."""
    return next((first_paragraph(project.texts[name], 400) for name in READMES if name in project.texts), "")


def _conventions(project: Project) -> list[str]:
    text = project.texts.get("pyproject.toml", "")
    found = []
    if match := re.search(r"^line-length\s*=\s*(\d+)", text, re.MULTILINE):
        found.append(f"Maximum line length: {match[1]}.")
    if match := re.search(r"^requires-python\s*=\s*\"([^\"]+)\"", text, re.MULTILINE):
        found.append(f"Python {match[1]}.")
    if re.search(r"^\[tool\.mypy\]", text, re.MULTILINE):
        strict = re.search(r"^strict\s*=\s*true", text, re.MULTILINE)
        found.append(f"Types are checked with mypy{' (strict)' if strict else ''}.")
    if re.search(r"^\[tool\.ruff", text, re.MULTILINE):
        found.append("Style is checked with Ruff.")
    return found


def merge(before: str, content: str) -> str:
    """Replace the generated part of an existing file, and keep the text that users wrote around it."""
    found = content[content.index(BEGIN) : content.index(END) + len(END)]
    start, end = before.find(BEGIN), before.find(END)
    if 0 <= start < end:
        return before[:start] + found + before[end + len(END) :]
    return before.rstrip("\n") + "\n\n" + found + "\n"
