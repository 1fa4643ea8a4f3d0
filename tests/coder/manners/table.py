"""Calls as real models send them, each with the effect it must have."""

from __future__ import annotations

from typing import Any, NamedTuple

APP = (
    "def add(a, b):\n    return a + b\n\n\ndef mean(values):\n    total = sum(values)\n    return total / len(values)\n"
)
FIXED = APP.replace("a + b", "a - b")
FILES: dict[str, str] = {
    "app.py": APP,
    "crlf.txt": "one\r\ntwo\r\n",
    "tabs.py": "def f():\n\treturn 1\n",
    "quotes.md": "It's “here”.\n",
    "src/util.py": "LIMIT = 10\n",
}
OLD, NEW = "return a + b", "return a - b"
PATCH = f"*** Begin Patch\n*** Update File: app.py\n@@ def add(a, b):\n-    {OLD}\n+    {NEW}\n*** End Patch"


class Send(NamedTuple):
    """One call of the model. Arguments that are text are JSON as the model wrote it."""

    tool: str
    arguments: dict[str, Any] | str


class Manner(NamedTuple):
    """A deviation, and what comes of it."""

    deviation: str
    sent: Send
    result: str = ""
    """A part of the last result."""
    files: dict[str, str] = {}
    """Files and their content afterwards."""
    correction: tuple[str, Send] | None = None
    """If the call can't be carried out: a part of the error, and the call that follows from it."""


def edit(old: str, new: str, path: str = "app.py") -> Send:
    return Send("edit_file", {"file_path": path, "edits": [{"old_string": old, "new_string": new}]})


def read(**arguments: Any) -> Send:
    return Send("read_file", arguments)


EDITED = {"app.py": FIXED}
EDIT = {"old_string": OLD, "new_string": NEW}
MANNERS: list[Manner] = [
    # Names of tools
    Manner("`functions.` before the name", Send("functions.read_file", {"file_path": "app.py"}), "def add"),
    Manner("tool name in CamelCase", Send("ReadFile", {"file_path": "app.py"}), "def add"),
    Manner("special tokens after the name", Send("read_file<|channel|>json", {"file_path": "app.py"}), "def add"),
    Manner("`Read`, as in Claude Code", Send("Read", {"file_path": "app.py"}), "def add"),
    Manner("`cat`", Send("cat", {"path": "app.py"}), "def add"),
    Manner("`bash`", Send("bash", {"command": "echo hello"}), "hello"),
    Manner("`grep`", Send("grep", {"pattern": "LIMIT"}), "src/util.py\n  1: LIMIT = 10"),
    Manner("`glob`", Send("Glob", {"pattern": "**/*.py"}), "src/util.py"),
    Manner("`LS`", Send("LS", {"path": "src"}), "util.py"),
    Manner(
        "`str_replace_editor` to view", Send("str_replace_editor", {"command": "view", "path": "app.py"}), "def add"
    ),
    Manner(
        "`str_replace_editor` to edit",
        Send("str_replace_editor", {"command": "str_replace", "path": "app.py", "old_str": OLD, "new_str": NEW}),
        files=EDITED,
    ),
    Manner(
        "`str_replace_editor` to create",
        Send("str_replace_editor", {"command": "create", "path": "new.py", "file_text": "x = 1\n"}),
        files={"new.py": "x = 1\n"},
    ),
    Manner("`Write`", Send("Write", {"path": "new.py", "contents": "x = 1\n"}), files={"new.py": "x = 1\n"}),
    Manner("`apply_patch`", Send("apply_patch", {"input": PATCH}), files=EDITED),
    Manner(
        "patch without its markers",
        Send("apply_patch", {"patch": "\n".join(PATCH.split("\n")[1:-1])}),
        files=EDITED,
    ),
    Manner(
        "patch in a shell command",
        Send("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"]}),
        files=EDITED,
    ),
    Manner(
        "unknown tool",
        Send("read_fil", {"file_path": "app.py"}),
        "def add",
        correction=("Did you mean read_file?", read(file_path="app.py")),
    ),
    # Names and forms of arguments
    Manner("`path` for `file_path`", read(path="app.py"), "def add"),
    Manner("names in camelCase", read(filePath="app.py"), "def add"),
    Manner("`start_line` for `offset`", read(file_path="app.py", start_line=5), "def mean"),
    Manner("numbers as text", read(file_path="app.py", offset="5", limit="1"), "def mean"),
    Manner("whole numbers as decimals", read(file_path="app.py", offset=5.0), "def mean"),
    Manner("null for what is omitted", read(file_path="app.py", offset=None, limit=None), "def add"),
    Manner("line 0", read(file_path="app.py", offset=0), "def add"),
    Manner("unknown argument", read(file_path="app.py", colour="red"), "[ignored unknown argument colour"),
    Manner("arguments inside `arguments`", Send("read_file", {"arguments": {"file_path": "app.py"}}), "def add"),
    Manner("path with a line number", read(file_path="app.py:5"), "without the line number]\ndef add"),
    Manner("path as a `file:` URL", read(file_path="file://{project}/app.py"), "def add"),
    Manner("absolute path", read(file_path="{project}/app.py"), "def add"),
    Manner("path in backquotes", read(file_path="`app.py`"), "def add"),
    Manner(
        "timeout in milliseconds", Send("run_command", {"command": "echo hello", "timeout": 120_000}), "120 seconds"
    ),
    Manner("command as a list", Send("run_command", {"command": ["bash", "-lc", "echo hello"]}), "hello"),
    Manner(
        "edits as text",
        Send("edit_file", {"file_path": "app.py", "edits": f'[{{"old_string": "{OLD}", "new_string": "{NEW}"}}]'}),
        files=EDITED,
    ),
    Manner("one edit instead of a list", Send("edit_file", {"file_path": "app.py", "edits": EDIT}), files=EDITED),
    Manner("edit beside the path", Send("edit_file", {"file_path": "app.py", **EDIT}), files=EDITED),
    Manner("plan of plain texts", Send("set_plan", {"steps": ["look", "change"]}), "- [ ] look\n- [ ] change"),
    Manner(
        "content as an object",
        Send("write_file", {"file_path": "a.json", "content": {"a": 1}}),
        files={"a.json": '{\n  "a": 1\n}\n'},
    ),
    # JSON
    Manner("trailing comma", Send("read_file", '{"file_path": "app.py",}'), "def add"),
    Manner("single quotes", Send("read_file", "{'file_path': 'app.py'}"), "def add"),
    Manner("JSON in a code fence", Send("read_file", '```json\n{"file_path": "app.py"}\n```'), "def add"),
    Manner("missing closing bracket", Send("read_file", '{"file_path": "app.py"'), "def add"),
    # Edits
    Manner("line numbers in the old text", edit(f"2\t    {OLD}", f"2\t    {NEW}"), files=EDITED),
    Manner("trailing whitespace in the old text", edit(f"    {OLD}  \n", f"    {NEW}\n"), files=EDITED),
    Manner("other indentation", edit(f"def add(a, b):\n  {OLD}", f"def add(a, b):\n  {NEW}"), files=EDITED),
    Manner(
        "spaces for tabs",
        edit("def f():\n    return 1", "def f():\n    return 2", "tabs.py"),
        files={"tabs.py": "def f():\n\treturn 2\n"},
    ),
    Manner(
        "line feeds in a file with CRLF",
        edit("one\ntwo", "one\nthree", "crlf.txt"),
        files={"crlf.txt": "one\r\nthree\r\n"},
    ),
    Manner(
        "straight for typographic quotes",
        edit('It\'s "here".', "It's there.", "quotes.md"),
        files={"quotes.md": "It's there.\n"},
    ),
    Manner(
        "line feeds escaped twice", edit(f"def add(a, b):\\n    {OLD}", f"def add(a, b):\\n    {NEW}"), files=EDITED
    ),
    Manner(
        "empty old text for an existing file",
        edit("", "x = 1\n"),
        files=EDITED,
        correction=("app.py was not changed", edit(OLD, NEW)),
    ),
    Manner(
        "old text that occurs twice",
        edit("total", "whole"),
        files={"app.py": APP.replace("total = sum", "whole = sum")},
        correction=("app.py was not changed", edit("total = sum", "whole = sum")),
    ),
    Manner(
        "old text that isn't there",
        edit("return a+ b * 2", NEW),
        files=EDITED,
        correction=(OLD, edit(OLD, NEW)),
    ),
    # Files
    Manner(
        "reading a directory",
        read(file_path="src"),
        "util.py",
        correction=("list_files", Send("list_files", {"path": "src"})),
    ),
    Manner(
        "missing file with a similar name",
        read(file_path="util.py"),
        "LIMIT",
        correction=("src/util.py", read(file_path="src/util.py")),
    ),
    Manner("offset after the end", read(file_path="app.py", offset=500), "the file has 7 lines"),
    # Search
    Manner("alternatives in a pattern", Send("search", {"pattern": "def add|def mean"}), "2 lines in 1 file"),
    Manner("alternatives as grep writes them", Send("search", {"pattern": r"def add\|def mean"}), "2 lines in 1 file"),
    Manner("unbalanced parenthesis", Send("search", {"pattern": "add("}), "1: def add(a, b):"),
    Manner("pattern escaped twice", Send("search", {"pattern": r"\\bLIMIT\\b"}), "1: LIMIT = 10"),
    Manner("ripgrep's options", Send("Grep", {"pattern": "limit", "-i": True, "-n": True, "-C": 1}), "1: LIMIT = 10"),
    Manner(
        "`output_mode` and `head_limit`",
        Send("Grep", {"pattern": "def", "output_mode": "files_with_matches", "head_limit": 10}),
        "2 files:\napp.py\ntabs.py",
    ),
    Manner("several globs in one", Send("search", {"pattern": "LIMIT", "glob": "*.py, *.md"}), "1: LIMIT = 10"),
    Manner("nothing to find", Send("search", {"pattern": "absent"}), "No matches in 5 files"),
]
