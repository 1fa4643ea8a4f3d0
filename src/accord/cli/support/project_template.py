"""Project templates of `accord new`: text files with `{{name}}` placeholders, shipped with the package."""

from __future__ import annotations

import json
import keyword
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from accord.cli.support.errors import CommandError
from accord.version import __version__

TEMPLATES = Path(__file__).resolve().parents[1] / "templates"
_NAME = re.compile(r"[a-z][a-z0-9-]*[a-z0-9]|[a-z]")
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_SUFFIX = ".txt"  # so that no tool of this project takes a template for a Python file

_TAKEN = {"accord", "msgspec", "pydantic", "pydantic_ai", "pytest", "pytest_asyncio", "site", "test", "tests"}
"""Modules that a project imports or contains, and those that `sys.stdlib_module_names` leaves out."""

ABOUT = {
    "minimal": "",
    "model": """
It sends every prompt to a model through [pydantic-ai](https://ai.pydantic.dev). Set `{{variable}}_MODEL` to another
model, such as `openai:gpt-5`, and the API key of its provider, such as `ANTHROPIC_API_KEY`.
""",
    "wrapper": """
It runs a program for every prompt: `COMMAND` in `src/{{module}}/agent.py`. The program reads the prompt from its
standard input, and what it prints is the answer.
""",
}
_DEPENDENCIES = {"model": ["pydantic-ai-slim[anthropic,openai]>=2,<3"]}
_DEFAULT_COMMAND = '[PYTHON, "-c", "import sys; print(sys.stdin.read().upper())"]'


def describe(name: str, template: str, directory: Path, command: list[str]) -> dict[str, str]:
    """Return the values of the placeholders. Raises `CommandError` if the name can't be used."""
    if not _NAME.fullmatch(name):
        raise CommandError(
            f"{name!r} can't be the agent's name: use lowercase letters, digits and hyphens, and start with a letter"
        )
    module = name.replace("-", "_")
    if keyword.iskeyword(module):
        raise CommandError(f"{name!r} can't be the agent's name: it is a keyword of Python")
    if module in sys.stdlib_module_names or module in _TAKEN:
        raise CommandError(f"{name!r} can't be the agent's name: there is a Python module of that name")
    values = {
        "name": name,
        "module": module,
        "class": "".join(word.title() for word in name.split("-")),
        "title": name.replace("-", " ").capitalize(),
        "variable": module.upper(),
        "directory": json.dumps(str(directory))[1:-1],
        "dependencies": ", ".join(
            f'"{each}"' for each in [f"accord-acp>={__version__}", *_DEPENDENCIES.get(template, [])]
        ),
        "command": repr(command) if command else _DEFAULT_COMMAND,
    }
    return {**values, "about": _fill(ABOUT[template], values)}


def render(template: str, values: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """Yield the files of a project: their relative paths and texts."""
    for part in ("common", template):
        templates = TEMPLATES / "agent" / part
        for source in sorted(templates.rglob(f"*{_SUFFIX}")):
            inside = source.relative_to(templates)
            parts = [values["module"] if each == "module" else each for each in inside.parts]
            target = Path(*parts)
            yield target.with_name(target.name.removesuffix(_SUFFIX)), _fill(source.read_text(encoding="utf-8"), values)


def _fill(text: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: values[found[1]], text)
