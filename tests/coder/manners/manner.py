"""A deviation of models from the schema of a tool, the project it happens in, and short forms of calls."""

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
    "accents.md": "Cafe\u0301\n",
    "bom.py": "\ufeffx = 1\n",
    "escapes.py": 'print("a\\n")\n',
    "twice.py": "def f():\n    return 1\n\n\ndef g():\n    return 1\n",
    "src/util.py": "LIMIT = 10\n",
}
OLD, NEW = "return a + b", "return a - b"
PATCH = f"*** Begin Patch\n*** Update File: app.py\n@@ def add(a, b):\n-    {OLD}\n+    {NEW}\n*** End Patch"


UNIFIED = f"--- a/app.py\n+++ b/app.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n-    {OLD}\n+    {NEW}\n"
BLOCK = f"<<<<<<< SEARCH\n    {OLD}\n=======\n    {NEW}\n>>>>>>> REPLACE\n"


class Send(NamedTuple):
    """One call of the model. Arguments that are text are JSON as the model wrote it."""

    tool: str
    arguments: dict[str, Any] | str


class Manner(NamedTuple):
    """A deviation and its expected result."""

    deviation: str
    sent: Send
    result: str = ""
    """A part of the last result."""
    files: dict[str, str | None] = {}
    """Files and their content afterwards; None if the file is gone."""
    correction: tuple[str, Send] | None = None
    """If the call can't be carried out: a part of the error, and the call that follows from it."""


def edit(old: str, new: str, path: str = "app.py") -> Send:
    return Send("edit_file", {"file_path": path, "edits": [{"old_string": old, "new_string": new}]})


def patch(*lines: str, **more: Any) -> Send:
    return Send("apply_patch", {"patch": "\n".join(["*** Begin Patch", *lines, "*** End Patch"]), **more})


def read(**arguments: Any) -> Send:
    return Send("read_file", arguments)


EDITED = {"app.py": FIXED}
EDIT = {"old_string": OLD, "new_string": NEW}
