"""The forms of the grammar, for the help and for suggestions."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import NamedTuple

LOGIN = "accord login"
"""The one command that configures a language model."""


class Form(NamedTuple):
    """One form of request, with placeholders in capitals."""

    example: str
    words: str
    """Words that suggest this form."""
    about: str = ""
    """The kind of its placeholder: "file", "text", "symbol", or nothing."""


GROUPS: dict[str, list[Form]] = {
    "Look": [
        Form("list files in DIRECTORY", "list files folder directory ls tree contents", "folder"),
        Form("read FILE lines 1-40", "read show open print view cat display file lines look", "file"),
        Form("find files named *.py", "find files named matching locate glob"),
        Form('search for "TEXT" in src', "search find grep look text mention occurrences todo", "text"),
        Form("outline FILE", "outline structure functions classes", "file"),
        Form(
            "what is this project?",
            "project overview summarize summarise describe explain architecture codebase about language",
        ),
        Form("explain FILE", "explain describe understand summarize summarise tell about file what does", "file"),
        Form("what is in this project", "project structure layout tree contents"),
        Form("where is NAME defined", "where defined definition declared implemented", "symbol"),
        Form("who calls NAME", "who calls used usages references callers uses", "symbol"),
        Form("what changed", "changed diff status git changes modified uncommitted"),
        Form("review the changes", "review changes check quality problems bugs critique"),
    ],
    "Change": [
        Form('replace "A" with "B" in FILE', "replace change substitute edit fix update modify swap", "file"),
        Form('replace "A" with "B" everywhere', "replace everywhere all rename refactor change"),
        Form('create FILE with "CONTENT"', "create write make new file add generate implement", "file"),
        Form('append "TEXT" to FILE', "append add insert extend end file", "file"),
        Form("rename FILE to OTHER", "rename move file mv", "file"),
        Form("rename the function A to B", "rename function class variable refactor symbol"),
        Form("delete FILE", "delete remove erase rm file", "file"),
    ],
    "Do": [
        Form("run `COMMAND`", "run execute command shell start launch install build"),
        Form("run the tests", "run tests test pytest check verify failing pass"),
        Form("make a plan for THIS", "plan steps how approach design implement add feature"),
        Form("remember to DO THIS", "remember todo note remind task"),
        Form("show todos", "show todos list tasks plan open left"),
        Form("mark todo 1 done", "mark todo done finished complete"),
        Form("fetch https://…", "fetch url download page web http https"),
        Form("switch to code mode", "switch mode code architect ask"),
        Form("summarize this conversation", "summarize summarise conversation recap session history"),
        Form("write an AGENTS.md", "agents init initialize initialise document instructions"),
    ],
}
FORMS = [form for forms in GROUPS.values() for form in forms]
_PLACEHOLDER = re.compile(r'\b(?:FILE|DIRECTORY|NAME|OTHER|THIS|COMMAND)\b|"(?:TEXT|A|B|CONTENT)"|\bA to B\b|…')
_STOP = {
    *(
        "a",
        "an",
        "the",
        "of",
        "in",
        "on",
        "to",
        "for",
        "and",
        "or",
        "it",
        "this",
        "that",
        "is",
        "are",
        "be",
        "my",
        "me",
    ),
    *("i", "you", "please", "can", "could", "with", "how", "what", "do", "does"),
}


def list_forms() -> str:
    """List all forms, as Markdown."""
    lines = ["Without a language model, I understand these requests. Join several with “then”:", ""]
    for group, forms in GROUPS.items():
        lines += [f"- {group}: " + ", ".join(_code(form.example) for form in forms)]
    lines += ["", f"For everything else, configure a language model: `{LOGIN}` (or set `ANTHROPIC_API_KEY`)."]
    return "\n".join(lines)


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def find_nearest(text: str) -> str | None:
    """Return the request most similar to a text, with its names filled in. It must be complete, so that it works."""
    text = text[:400]
    words = [word for word in re.findall(r"[a-z]+", text.lower()) if word not in _STOP][:40]
    scored = []
    for index, form in enumerate(FORMS):
        score = sum(max((_similarity(word, key) for key in form.words.split()), default=0.0) for word in words)
        filled = _fill(form, text)
        if score >= 0.8 and not _PLACEHOLDER.search(filled):
            scored.append((-score, index, filled))
    return min(scored)[2] if scored else None


def _similarity(word: str, key: str) -> float:
    if word == key:
        return 1.0
    if word[:2] != key[:2] or min(len(word), len(key)) < 4:
        return 0.0
    ratio = SequenceMatcher(None, word, key).ratio()
    return ratio if ratio >= 0.75 else 0.0


def _fill(form: Form, text: str) -> str:
    """Fill in the file or quoted text that the user named."""
    if form.about == "file" and (file := find_file(text)):
        return form.example.replace("FILE", file)
    quoted = re.search(r"[\"“`]([^\"”`\n]{1,60})[\"”`]", text)
    if form.about in ("symbol", "text") and quoted:
        return form.example.replace("NAME", quoted[1]).replace("TEXT", quoted[1])
    return form.example


def find_file(text: str) -> str | None:
    """Return the first word that looks like a file name."""
    found = re.search(r"(?<![\w/])[\w./-]*\w\.[A-Za-z]\w{0,4}\b", text)
    return found[0] if found else None
