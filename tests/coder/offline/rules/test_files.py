"""Requests that read and search files: each sentence, and how it is parsed."""

from __future__ import annotations

import pytest

from accord.coder.offline.parser import parse
from accord.coder.offline.requests import (
    FindFiles,
    FindSymbol,
    ListFiles,
    Outline,
    ReadFiles,
    Review,
    Search,
    ShowChanges,
    Step,
    Where,
)

ALL = Where()
SRC = Where(path="src")
PYTHON = Where(glob="*.py")

LISTING: list[tuple[str, Step]] = [
    ("list files", ListFiles()),
    ("LIST FILES", ListFiles()),
    ("Please list the files.", ListFiles()),
    ("could you list all the files for me, please?", ListFiles()),
    ("list files in src", ListFiles(path="src")),
    ("list the files in the folder `my docs`", ListFiles(path="my docs")),
    ('show me the files in "my docs", thanks!', ListFiles(path="my docs")),
    ("list files in tests", ListFiles(path="tests")),
    ("list files in ./src/accord/", ListFiles(path="./src/accord/")),
    ("list the contents of src", ListFiles(path="src")),
    ("what files are there?", ListFiles()),
    ("what files are in src", ListFiles(path="src")),
    ("which files are there in docs", ListFiles(path="docs")),
    ("what's in the folder src?", ListFiles(path="src")),
    ("what is in src/", ListFiles(path="src/")),
    ("ls", ListFiles()),
    ("ls -la src/", ListFiles(path="src/")),
    ("list files recursively", ListFiles(depth=3)),
    ("list files here", ListFiles()),
    ("list files in this folder", ListFiles()),
    ("list files in .", ListFiles()),
    ("list *.py files", FindFiles(pattern="**/*.py")),
]

READING: list[tuple[str, Step]] = [
    ("read README.md", ReadFiles(paths=["README.md"])),
    ("Read the file README.md.", ReadFiles(paths=["README.md"])),
    ("read Makefile", ReadFiles(paths=["Makefile"])),
    ("read notes", ReadFiles(paths=["notes"])),
    ("show me src/app.py", ReadFiles(paths=["src/app.py"])),
    ("open `src/a b.py`", ReadFiles(paths=["src/a b.py"])),
    ("print the contents of setup.cfg", ReadFiles(paths=["setup.cfg"])),
    ("cat a.txt", ReadFiles(paths=["a.txt"])),
    ("what's in pyproject.toml?", ReadFiles(paths=["pyproject.toml"])),
    ("what does README.md say?", ReadFiles(paths=["README.md"])),
    ("can you take a look at src/main.rs", ReadFiles(paths=["src/main.rs"])),
    ("read a.py lines 10-20", ReadFiles(paths=["a.py"], first=10, last=20)),
    ("read a.py, lines 10 to 20", ReadFiles(paths=["a.py"], first=10, last=20)),
    ("read a.py from line 20 to 10", ReadFiles(paths=["a.py"], first=10, last=20)),
    ("read line 7 of a.py", ReadFiles(paths=["a.py"], first=7, last=7)),
    ("show lines 3–9 of the file a.txt", ReadFiles(paths=["a.txt"], first=3, last=9)),
    ("read a.py line 5", ReadFiles(paths=["a.py"], first=5, last=5)),
    ("read a.py from line 40 on", ReadFiles(paths=["a.py"], first=40)),
    ("cat a.py:10-20", ReadFiles(paths=["a.py"], first=10, last=20)),
    ("show the first 5 lines of a.txt", ReadFiles(paths=["a.txt"], first=1, last=5)),
    ("show me the last 20 lines of log.txt", ReadFiles(paths=["log.txt"], tail=20)),
    ("head -5 a.txt", ReadFiles(paths=["a.txt"], first=1, last=5)),
    ("tail -n 5 a.txt", ReadFiles(paths=["a.txt"], tail=5)),
    ("read a.py and b.py", ReadFiles(paths=["a.py", "b.py"])),
    ('read a.py, b.py and "c d.py"', ReadFiles(paths=["a.py", "b.py", "c d.py"])),
    ("read a.py, b.py, and c.py", ReadFiles(paths=["a.py", "b.py", "c.py"])),
    ("read .gitignore", ReadFiles(paths=[".gitignore"])),
    ("read /etc/hosts", ReadFiles(paths=["/etc/hosts"])),
    ("read [@app.py](file:///project/src/app.py)", ReadFiles(paths=["/project/src/app.py"])),
    ("read @src/app.py", ReadFiles(paths=["src/app.py"])),
    ("read this @src/app.py, please", ReadFiles(paths=["src/app.py"])),
    ("read “Grüße aus Köln.txt”", ReadFiles(paths=["Grüße aus Köln.txt"])),
]

FINDING: list[tuple[str, Step]] = [
    ("find files named config", FindFiles(pattern="**/*config*")),
    ("find files named config.toml", FindFiles(pattern="**/config.toml")),
    ("find files matching *.py in src", FindFiles(pattern="**/*.py", path="src")),
    ("find all *.toml files", FindFiles(pattern="**/*.toml")),
    ("find files ending in .md", FindFiles(pattern="**/*.md")),
    ("find python files", FindFiles(pattern="**/*.py")),
    ("find src/**/test_*.py", FindFiles(pattern="src/**/test_*.py")),
    ("find the file settings.json", FindFiles(pattern="**/settings.json")),
    ("find config.toml", FindFiles(pattern="**/config.toml")),
    ("where is README.md", FindFiles(pattern="**/README.md")),
    ("where is the file notes.txt?", FindFiles(pattern="**/notes.txt")),
]

SEARCHING: list[tuple[str, Step]] = [
    ('search for "TODO"', Search(text="TODO", where=ALL)),
    ("search TODO", Search(text="TODO", where=ALL)),
    ("search for TODO in src", Search(text="TODO", where=SRC)),
    ("grep foo in src", Search(text="foo", where=SRC)),
    ("grep -rn foo src", Search(text="foo", where=SRC)),
    ('grep "x = 1" in all *.py', Search(text="x = 1", where=PYTHON)),
    ("find `def main` in python files", Search(text="def main", where=PYTHON)),
    ("find hello in src/*.py", Search(text="hello", where=Where(path="src", glob="*.py"))),
    ("search for hello in *.py files in src", Search(text="hello", where=Where(path="src", glob="*.py"))),
    (
        'find "hello world" in README.md, ignoring case',
        Search(text="hello world", where=Where(path="README.md"), ignore_case=True),
    ),
    ('search for "a" case-insensitively', Search(text="a", where=ALL, ignore_case=True)),
    ('search for the regex "def \\w+" in src', Search(text="def \\w+", where=SRC, regex=True)),
    ("search src for hello", Search(text="hello", where=SRC)),
    ("look for the word hello in the project", Search(text="hello", where=ALL)),
    ("find all occurrences of foo everywhere in src", Search(text="foo everywhere", where=SRC)),
    ("which files mention sqlite?", Search(text="sqlite", where=ALL)),
    ("search for 'don't' in src", Search(text="don't", where=SRC)),
    ('search for "$(rm -rf /); `id`"', Search(text="$(rm -rf /); `id`", where=ALL)),
    ('search for "a then b; c"', Search(text="a then b; c", where=ALL)),
    ('search for "say "hi" now" in src', Search(text='say "hi" now', where=SRC)),
    ("search for @pytest.fixture", Search(text="@pytest.fixture", where=ALL)),
    ("search for @property in src", Search(text="@property", where=SRC)),
    ("search for a@b.org", Search(text="a@b.org", where=ALL)),
    ("search for 🎉", Search(text="🎉", where=ALL)),
    ("search for «naïve» in docs/", Search(text="naïve", where=Where(path="docs/"))),
]

SYMBOLS: list[tuple[str, Step]] = [
    ("outline src/app.py", Outline(path="src/app.py")),
    ("outline", Outline()),
    ("outline the project", Outline()),
    ("what is in this project?", Outline()),
    ("what's in the repo", Outline()),
    ("summarise the structure", Outline()),
    ("summarize the structure of src", Outline(path="src")),
    ("give me an outline of the project", Outline()),
    ("show me the structure of src/app.py", Outline(path="src/app.py")),
    ("what functions are in a.py?", Outline(path="a.py")),
    ("list the classes in a.py", Outline(path="a.py")),
    ("where is Session defined?", FindSymbol(name="Session")),
    ("where is the function parse_args defined", FindSymbol(name="parse_args")),
    ("where is Session", FindSymbol(name="Session")),
    ("find the definition of Foo.bar", FindSymbol(name="Foo.bar")),
    ("go to the definition of main()", FindSymbol(name="main")),
    ("where is parse_args used", FindSymbol(name="parse_args", what="used")),
    ("where is `parse_args` called?", FindSymbol(name="parse_args", what="used")),
    ("who calls main()", FindSymbol(name="main", what="used")),
    ("what uses Session?", FindSymbol(name="Session", what="used")),
    ("find usages of greet", FindSymbol(name="greet", what="used")),
    ("is greet used anywhere?", FindSymbol(name="greet", what="used")),
    ("show me where greet is used", FindSymbol(name="greet", what="used")),
]

CHANGES: list[tuple[str, Step]] = [
    ("what changed?", ShowChanges()),
    ("what has changed", ShowChanges()),
    ("what did you change?", ShowChanges()),
    ("what has changed in src?", ShowChanges(path="src")),
    ("which files were modified?", ShowChanges()),
    ("show the diff", ShowChanges()),
    ("show me the changes in src/app.py", ShowChanges(path="src/app.py")),
    ("git status", ShowChanges()),
    ("git diff src/a.py", ShowChanges(path="src/a.py")),
    ("diff", ShowChanges()),
    ("review the working tree's changes", Review()),
    ("review my changes", Review()),
    ("please review the diff", Review()),
    ("code review", Review()),
]


@pytest.mark.parametrize(
    ("sentence", "step"),
    [*LISTING, *READING, *FINDING, *SEARCHING, *SYMBOLS, *CHANGES],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_request_to_look_is_understood(sentence: str, step: Step) -> None:
    assert parse(sentence) == [step]
