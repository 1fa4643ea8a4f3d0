"""Explain the project, its files and names from their own documentation, and count files and lines."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from accord.coder.offline import requests as r
from accord.coder.offline.actions.commands import inspect_project
from accord.coder.offline.actions.files import read_or_find
from accord.coder.offline.replies import fence, file_in, hits_in, join_names, language_of, names_in, pluralize
from accord.coder.offline.script import Script, Situation, Stopped, call, data_of, use
from accord.coder.offline.tasks import TASKS, Project
from accord.coder.tools.project.symbols import Symbol, is_python, parse_python, symbols_of

READMES = ("README.md", "README.rst", "README.txt", "README", "readme.md")
MAX_DEFINITIONS = 12
MAX_DIRECTORIES = 8
MAX_SHOWN_LINES = 30
"""How much of a definition is shown."""
LANGUAGES = {
    "py": "Python",
    "js": "JavaScript",
    "ts": "TypeScript",
    "tsx": "TypeScript",
    "rs": "Rust",
    "go": "Go",
    "java": "Java",
    "kt": "Kotlin",
    "rb": "Ruby",
    "c": "C",
    "cpp": "C++",
    "cs": "C#",
    "php": "PHP",
    "swift": "Swift",
    "sh": "shell scripts",
    "md": "Markdown",
    "html": "HTML",
    "css": "CSS",
    "json": "JSON",
    "toml": "TOML",
    "yml": "YAML",
    "yaml": "YAML",
}
DOCUMENTS = frozenset({"md", "markdown", "rst", "txt", ""})
NO_CODE = DOCUMENTS | {"html", "css", "json", "toml", "yml", "yaml"}
MAIN_FILES = ("doc", "main", "app", "index", "__init__", "__main__")


def explain_project(step: r.ExplainProject, situation: Situation) -> Script[str]:
    situation.require("list_files", "read_file", "outline")
    project = yield from inspect_project(situation, "Looking at the project…", *READMES)
    (result,) = yield from use(situation, "Counting its files…", call("outline", path="."), lenient=True)
    directories: dict[str, int] = {} if result.failed else data_of(result)["directories"]
    source = _find_source(project)
    if source and not _describe_by_documents(project):
        # There is no documentation: the comment or docstring at the top of its main file is the next best.
        (result,) = yield from use(situation, f"Reading `{source}`…", call("read_file", file_path=source), lenient=True)
        if not result.failed:
            project.texts[source] = file_in(result).text
    return describe_project(project, directories)


def _find_source(project: Project) -> str | None:
    """Return the source file that describes the project best."""
    files = [each for each in project.names if language_of(each) in LANGUAGES and language_of(each) not in NO_CODE]
    return next((each for each in files if each.partition(".")[0] in MAIN_FILES), files[0] if files else None)


def _describe_by_documents(project: Project) -> tuple[str, str] | None:
    """Return the first paragraph of the README, or the description of a manifest, and the file that it is from."""
    readme = next((name for name in READMES if name in project.texts), None)
    if readme and (first := first_paragraph(project.texts[readme])):
        return first, readme
    described = project.description()
    return (described, "") if described else None


def describe_project(project: Project, directories: dict[str, int]) -> str:
    """Describe a project. `directories` has the number of files in each top-level directory."""
    readme = next((name for name in READMES if name in project.texts), None)
    about, origin = _describe_by_documents(project) or ("", "")
    code = _find_source(project)
    if not about and code and (about := documentation_of(code, project.texts.get(code, ""))):
        origin = code
    name = project.name() or (title_of(project.texts[readme]) if readme else "")
    facts: list[str] = []
    languages = project.languages() or languages_of(project.names)
    if languages:
        facts.append(f"Language: {', '.join(languages)}")
    shown = [f"`{each}/` ({pluralize(count, 'file')})" for each, count in directories.items() if each[:1] != "."]
    if shown:
        rest = len(shown) - MAX_DIRECTORIES
        facts.append("Directories: " + ", ".join(shown[:MAX_DIRECTORIES]) + (f" and {rest} more" if rest > 0 else ""))
    files = [each for each in project.names if not each.endswith("/") and each[:1] != "."]
    if files:
        facts.append(f"Files: {join_names(files, 8)}")
    needed = project.dependencies()
    if needed:
        facts.append(f"Dependencies: {join_names(needed, 8)}")
    start = project.start()
    commands = [f"run: `{start}`"] if start else []
    commands += [f"{task}: `{found[0]}`" for task in TASKS if (found := project.command(task))]
    if commands:
        facts.append("Commands: " + ", ".join(commands))
    if not about and not facts:
        return "This directory is empty. Say `create hello.py with \"print('hello')\"` to start."
    source = f" (from `{origin}`)" if origin else ""
    head = f"**{name}**: {about}" if name and about else f"**{name}**" if name else about
    parts = [head + source] if head else ["The project has no README and no description."]
    parts.append("\n".join(f"- {fact}" for fact in facts))
    parts.append(f"To learn more, say `explain {code or readme}`." if code or readme else "")
    return "\n\n".join(part for part in parts if part)


def languages_of(names: Sequence[str]) -> list[str]:
    """Return the programming languages of these files, the most frequent first."""
    found = [LANGUAGES[end] for name in names if (end := language_of(name)) in LANGUAGES and end not in DOCUMENTS]
    return sorted(dict.fromkeys(found), key=found.count, reverse=True)[:3]


def explain_file(step: r.ExplainFile, situation: Situation) -> Script[str]:
    situation.require("read_file")
    text = situation.attached.get(step.path)
    path, total = step.path, None
    if text is None:
        (result,) = yield from use(situation, f"Reading `{path}`…", call("read_file", file_path=path), lenient=True)
        if result.failed and result.data.get("problem") == "directory":
            (result,) = yield from use(situation, f"Outlining `{path}`…", call("outline", path=path))
            return f"`{path}` is a directory:\n\n{fence(result.text)}"
        if result.failed:
            path, result = yield from read_or_find(path, result, r.ReadFiles(paths=[path]), situation)
        got = file_in(result)
        text, total = got.text, got.total
    return describe_file(path, text, total)


def describe_file(path: str, text: str, total: int | None = None) -> str:
    """Describe a file by its documentation and definitions."""
    end = language_of(path)
    size = pluralize(len(text.splitlines()) if total is None else total, "line")
    language = LANGUAGES.get(end)
    head = f"`{path}`: {size}" + (f" of {language}" if language else "") + "."
    about = first_paragraph(text) if end in DOCUMENTS else documentation_of(path, text)
    symbols = [each for each in symbols_of(path, text) if each.depth == 0 or (end in DOCUMENTS and each.depth < 2)]
    summaries = _summaries(path, text)
    lines = []
    for symbol in symbols[:MAX_DEFINITIONS]:
        summary = summaries.get(symbol.path, "")
        lines.append(f"- line {symbol.line}: `{_plain(symbol)}`" + (f": {summary}" if summary else ""))
    if len(symbols) > MAX_DEFINITIONS:
        lines.append(f"- … and {len(symbols) - MAX_DEFINITIONS} more")
    what = "Sections" if end in DOCUMENTS else "Defines" if end in LANGUAGES else "Contains"
    parts = [head, about, f"{what}:\n\n" + "\n".join(lines) if lines else ""]
    if not about and not lines:
        parts.append(fence(text, end, limit=MAX_SHOWN_LINES) if text.strip() else "It is empty.")
    return "\n\n".join(part for part in parts if part)


def explain_name(step: r.ExplainName, situation: Situation) -> Script[str]:
    (found,) = yield from use(
        situation,
        f"Looking for where `{step.name}` is defined…",
        call("outline", symbol=step.name, find="definitions"),
    )
    hits = hits_in(found)
    if not hits:
        raise Stopped(f'Found no definition of `{step.name}`. Say `search for "{step.name}"` to find other mentions.')
    hit = hits[0]
    (result,) = yield from use(
        situation,
        f"Reading `{hit.path}`…",
        call("read_file", file_path=hit.path, offset=hit.line, limit=MAX_SHOWN_LINES),
    )
    more = f" (and in {pluralize(len(hits) - 1, 'other place')})" if len(hits) > 1 else ""
    shown = _first_block(file_in(result).text)
    return f"`{step.name}` is defined in `{hit.path}`, line {hit.line}{more}:\n\n{fence(shown, language_of(hit.path))}"


def count_files(step: r.CountFiles, situation: Situation) -> Script[str]:
    where = "the project" if step.path == "." else f"`{step.path}`"
    if step.glob is None:
        (result,) = yield from use(situation, f"Counting the files in {where}…", call("outline", path=step.path))
        return f"There are {pluralize(data_of(result)['files'], 'file')} in {where}, without ignored ones."
    (result,) = yield from use(
        situation,
        f"Counting the files in {where}…",
        call("list_files", pattern=f"**/{step.glob}", path=step.path),
    )
    found = names_in(result)
    least = "" if data_of(result)["complete"] else "at least "
    return (
        f"{least}{pluralize(len(found), 'file')} in {where} {'matches' if len(found) == 1 else 'match'} `{step.glob}`."
    )


def count_lines(step: r.CountLines, situation: Situation) -> Script[str]:
    calls = [call("read_file", file_path=path) for path in step.paths[:20]]
    results = yield from use(situation, f"Reading {join_names(step.paths[:20])}…", *calls, lenient=True)
    lines = []
    for path, result in zip(step.paths, results, strict=False):
        if result.failed:
            path, result = yield from read_or_find(path, result, r.ReadFiles(paths=[path]), situation)
        got = file_in(result)
        lines.append(
            f"`{path}` has {pluralize(len(got.text.splitlines()) if got.total is None else got.total, 'line')}."
        )
    return "\n".join(lines)


def first_paragraph(text: str, limit: int = 500) -> str:
    """Return the first paragraph of prose in a document: no heading, badge, image, list, table, quotation or code."""
    text = re.sub(r"<!--.*?-->", "", text[:8000], flags=re.DOTALL)
    text = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n", text):
        lines = paragraph.strip().split("\n")
        while lines and (re.match(r"\s*#", lines[0]) or (len(lines) > 1 and re.match(r"\s*[=~-]{3,}\s*$", lines[1]))):
            lines = lines[2:] if len(lines) > 1 and re.match(r"\s*[=~-]{3,}\s*$", lines[1]) else lines[1:]
        words = " ".join(" ".join(lines).split())
        without_links = re.sub(r"!?\[!\[[^\]]*\]\([^)]*\)\]\([^)]*\)|!\[[^\]]*\]\([^)]*\)|<[^>]*>", "", words).strip()
        if re.search(r"\w", without_links) and not re.match(r"[|>*+=-]|\d+\. |\.\. ", without_links):
            return without_links if len(without_links) <= limit else without_links[:limit].rsplit(" ", 1)[0] + " …"
    return ""


def title_of(text: str) -> str:
    """Return the first heading of a document."""
    match = re.search(r"^#\s+(.+?)\s*#*$", text[:4000], re.MULTILINE) or re.search(r"^(\S.*)\n[=]{3,}", text[:4000])
    return match[1].strip()[:80] if match else ""


def documentation_of(path: str, text: str) -> str:
    """Return the documentation at the top of a source file: its docstring, or its first comment."""
    if is_python(path):
        tree = parse_python(text)
        words = ast.get_docstring(tree) if tree is not None else None
        return " ".join((words or "").split("\n\n")[0].split())
    match = re.match(
        r"(?:#!.*\n)?\s*(?:/\*+(?P<block>(?s:.*?))\*/|(?P<lines>(?:[ \t]*(?://+!?|#+(?!\[)|--|;+).*\n)+))", text
    )
    if match is None:
        return ""
    lines = re.split(r"\n", match["block"] or match["lines"] or "")
    stripped = [re.sub(r"^\s*(?://+!?|#+|--|;+|\*+)\s?", "", line).strip() for line in lines]
    paragraph = "\n".join(stripped).strip().split("\n\n")[0]
    return " ".join(paragraph.split())[:500]


def _summaries(path: str, text: str) -> dict[str, str]:
    """Return the first line of each definition's docstring, by its qualified name."""
    tree = parse_python(text) if is_python(path) else None
    found = {}
    for node in tree.body if tree is not None else []:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            words = ast.get_docstring(node)
            if words and words.strip():
                found[node.name] = words.strip().split("\n")[0]
    return found


def _plain(symbol: Symbol) -> str:
    return symbol.text.replace("`", "").lstrip("#").strip()


def _first_block(text: str) -> str:
    """Return the first definition of a text: the lines up to the next one that is indented as little."""
    lines = text.rstrip("\n").split("\n")
    first = len(lines[0]) - len(lines[0].lstrip())
    for number, line in enumerate(lines[1:], 1):
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent <= first and not re.match(r"\s*[)\]}]|\s*(?:else|elif|except|finally)\b", line):
            return "\n".join(lines[:number]).rstrip("\n")
    return "\n".join(lines)
