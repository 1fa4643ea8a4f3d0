"""Writing an AGENTS.md: what the project is, how it is laid out, how it is tested. Only what was found."""

from __future__ import annotations

import re

from accord.coder.models.offline import requests as r
from accord.coder.models.offline.answering import reading
from accord.coder.models.offline.projects import TASKS, Project
from accord.coder.models.offline.script import Script, Situation, use, want
from accord.coder.models.offline.scripts.commands import look_at_project

BEGIN = "<!-- found by accord: begin -->"
END = "<!-- found by accord: end -->"
WORDS = {"test": "Run the tests", "lint": "Lint", "format": "Format", "build": "Build"}
FOLDERS = {
    "src": "the source",
    "lib": "the source",
    "tests": "the tests",
    "test": "the tests",
    "docs": "the documentation",
    "doc": "the documentation",
    "examples": "examples",
    "scripts": "scripts for the work on the project",
    ".github": "what runs on GitHub",
    "benchmarks": "measurements",
}


def describe(step: r.DescribeProject, situation: Situation) -> Script[str]:
    situation.need("list_files", "read_file", "write_file")
    project = yield from look_at_project(
        situation, "I look at the project.", "README.md", "README.rst", "README", step.path
    )
    outline = ""
    if "outline" in situation.tools:
        (result,) = yield from use(situation, "I outline it.", want("outline", path="."), lenient=True)
        outline = "" if result.failed else result.text
    before = project.texts.get(step.path)
    content = described(project, outline)
    if before is not None:
        content = merged(before, content)
    if before == content:
        return f"`{step.path}` says already what I find; nothing was written."
    (result,) = yield from use(
        situation, f"I write `{step.path}`.", want("write_file", path=step.path, content=content)
    )
    found = [WORDS[task].lower() for task in TASKS if project.command(task)]
    how = f" It says how to {', '.join(found)}." if found else " I found no command for tests or linting; add yours."
    done = "brought up to date" if before is not None else "written"
    return f"`{step.path}` is {done}.{how} Read it over: it holds only what a machine can find."


def described(project: Project, outline: str) -> str:
    """The text, from what was found."""
    name = project.name() or "This project"
    lines = [f"# {name}", "", BEGIN, ""]
    about = project.description() or _first_words(project)
    languages = project.languages()
    lines += [about, ""] if about else []
    lines += [f"Written in {', '.join(languages)}.", ""] if languages else []
    folders = [each.rstrip("/") for each in project.names if each.endswith("/")]
    folders = [each for each in folders if not each.startswith(".") or each in FOLDERS]
    if folders:
        lines += ["## Layout", "", *(_folder(folder, outline) for folder in folders[:30]), ""]
    commands = [(task, found) for task in TASKS if (found := project.command(task))]
    if commands:
        lines += ["## Commands", ""]
        lines += [f"- {WORDS[task]}: `{command}` (from {where})" for task, (command, where) in commands]
        lines += [""]
    conventions = _conventions(project)
    if conventions:
        lines += ["## Conventions", "", *(f"- {each}" for each in conventions), ""]
    return "\n".join([*lines, END]) + "\n"


def _folder(name: str, outline: str) -> str:
    about = f": {FOLDERS[name]}" if name in FOLDERS else ""
    files = re.search(rf"^{re.escape(name)}/  \(([\d,]+ files?)", outline, re.MULTILINE)
    return f"- `{name}/`{about}" + (f" ({files[1]})" if files else "")


def _first_words(project: Project) -> str:
    """The first paragraph of the README."""
    text = next((project.texts[name] for name in ("README.md", "README.rst", "README") if name in project.texts), "")
    for paragraph in re.split(r"\n\s*\n", reading(text).text[:4000]):
        words = " ".join(paragraph.split())
        if words and not re.match(r"[#=\-<!\[|`*]", words):
            return words[:400]
    return ""


def _conventions(project: Project) -> list[str]:
    text = project.texts.get("pyproject.toml", "")
    found = []
    if match := re.search(r"^line-length\s*=\s*(\d+)", text, re.MULTILINE):
        found.append(f"Lines have at most {match[1]} characters.")
    if match := re.search(r"^requires-python\s*=\s*\"([^\"]+)\"", text, re.MULTILINE):
        found.append(f"Python {match[1]}.")
    if re.search(r"^\[tool\.mypy\]", text, re.MULTILINE):
        strict = re.search(r"^strict\s*=\s*true", text, re.MULTILINE)
        found.append(f"Types are checked with mypy{' (strict)' if strict else ''}.")
    if re.search(r"^\[tool\.ruff", text, re.MULTILINE):
        found.append("Ruff checks the style.")
    return found


def merged(before: str, content: str) -> str:
    """What was written before, with the found part renewed; what people wrote around it stays."""
    found = content[content.index(BEGIN) : content.index(END) + len(END)]
    start, end = before.find(BEGIN), before.find(END)
    if 0 <= start < end:
        return before[:start] + found + before[end + len(END) :]
    return before.rstrip("\n") + "\n\n" + found + "\n"
