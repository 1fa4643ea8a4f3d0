"""Patches, edits, files and patterns as real models send them."""

from __future__ import annotations

from .manner import APP, BLOCK, EDITED, FILES, NEW, OLD, PATCH, UNIFIED, Manner, Send, edit, patch, read

EDITS: list[Manner] = [
    # Patches
    Manner(
        "patch without its end", Send("apply_patch", {"patch": PATCH.removesuffix("\n*** End Patch")}), files=EDITED
    ),
    Manner("unified diff", Send("apply_patch", {"patch": UNIFIED}), files=EDITED),
    Manner(
        "unified diff of Git, in a code fence",
        Send(
            "apply_patch",
            {"diff": f"```diff\ndiff --git a/app.py b/app.py\nindex 1a2b3c4..5d6e7f8 100644\n{UNIFIED}```"},
        ),
        files=EDITED,
    ),
    Manner(
        "wrong line numbers and counts",
        Send("apply_patch", {"patch": UNIFIED.replace("-1,2 +1,2", "-40,9 +41,7")}),
        files=EDITED,
    ),
    Manner(
        "hunk beside the path", Send("apply_diff", {"path": "app.py", "diff": UNIFIED.split("\n", 2)[2]}), files=EDITED
    ),
    Manner(
        "context without a leading space",
        patch("*** Update File: app.py", "@@", "def add(a, b):", f"-    {OLD}", f"+    {NEW}"),
        files=EDITED,
    ),
    Manner(
        "patch with line feeds escaped twice", Send("apply_patch", {"patch": PATCH.replace("\n", "\\n")}), files=EDITED
    ),
    Manner("patch as an edit", Send("edit_file", {"file_path": "app.py", "patch": PATCH}), files=EDITED),
    Manner("new file without plus signs", patch("*** Add File: new.py", "x = 1"), files={"new.py": "x = 1\n"}),
    Manner(
        "context that isn't in the file",
        patch("*** Update File: app.py", " def add(x, y):", f"-    {OLD}", f"+    {NEW}"),
        files=EDITED,
        correction=("lines 1 to 2 are the most similar:\ndef add(a, b):", Send("apply_patch", {"patch": PATCH})),
    ),
    Manner(
        "place that isn't the only one",
        patch("*** Update File: twice.py", "-    return 1", "+    return 2"),
        files={"twice.py": FILES["twice.py"].replace("return 1\n\n", "return 2\n\n")},
        correction=(
            "is at several places, lines 2, 6",
            patch("*** Update File: twice.py", "@@ def f():", "-    return 1", "+    return 2"),
        ),
    ),
    Manner("SEARCH and REPLACE blocks", Send("replace_in_file", {"path": "app.py", "diff": BLOCK}), files=EDITED),
    Manner(
        "blocks with line numbers",
        Send("apply_diff", {"path": "app.py", "diff": BLOCK.replace("SEARCH\n", "SEARCH\n:start_line:2\n-------\n")}),
        files=EDITED,
    ),
    # Edits
    Manner("tabs for spaces", edit(f"def add(a, b):\n\t{OLD}", f"def add(a, b):\n\t{NEW}"), files=EDITED),
    Manner("arrows after line numbers", edit(f"     2→    {OLD}", f"     2→    {NEW}"), files=EDITED),
    Manner("blank lines around the old text", edit(f"\n    {OLD}\n\n", f"\n    {NEW}\n\n"), files=EDITED),
    Manner(
        "HTML entities",
        edit("It&apos;s “here”.", "It&apos;s there.", "quotes.md"),
        files={"quotes.md": "It's there.\n"},
    ),
    Manner("file with a byte order mark", edit("x = 1", "x = 2", "bom.py"), files={"bom.py": "\ufeffx = 2\n"}),
    Manner(
        "accents composed differently", edit("Caf\u00e9", "Th\u00e9", "accents.md"), files={"accents.md": "Th\u00e9\n"}
    ),
    Manner(
        "backslash escaped twice",
        edit('print("a\\\\n")', 'print("b\\\\n")', "escapes.py"),
        files={"escapes.py": 'print("b\\n")\n'},
    ),
    Manner(
        "part of a line with typographic quotes",
        edit('"here"', '"there"', "quotes.md"),
        files={"quotes.md": "It's there.\n"},
        correction=(
            "Give the whole line, which then matches:\nIt's “here”.",
            edit('It\'s "here".', "It's there.", "quotes.md"),
        ),
    ),
    Manner("empty old text for a new file", edit("", "x = 1\n", "new.py"), files={"new.py": "x = 1\n"}),
    Manner(
        "old and new text the same",
        edit(OLD, OLD),
        files=EDITED,
        correction=("the old and the new text are the same", edit(OLD, NEW)),
    ),
    Manner(
        "placeholder for code that stays",
        edit(f"def add(a, b):\n    {OLD}", f"def add(a, b):\n    # ... existing code ...\n    {NEW}"),
        files=EDITED,
        correction=("contains the placeholder '# ... existing code ...'", edit(OLD, NEW)),
    ),
    Manner(
        "file with line feeds escaped twice",
        Send("write_file", {"file_path": "new.txt", "content": "one\\ntwo\\nthree"}),
        "The file is one line that contains \\n as two characters",
        files={"new.txt": "one\\ntwo\\nthree"},
    ),
    Manner(
        "code fence around a file",
        Send("write_file", {"file_path": "new.py", "content": "```python\nx = 1\n```"}),
        "has a syntax error at line 1",
        files={"new.py": "```python\nx = 1\n```"},
    ),
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
        "3 files:\napp.py\ntabs.py\ntwice.py",
    ),
    Manner("several patterns", Send("search", {"queries": ["def add", "def mean"]}), "2 lines in 1 file"),
    Manner("pattern between slashes", Send("search", {"pattern": "/limit/i"}), "without the delimiters]\n1 line"),
    Manner("pattern in quotes", Send("search", {"pattern": '"LIMIT"'}), "without the delimiters]\n1 line"),
    Manner("look-behind", Send("search", {"pattern": "(?<=def )add"}), "1: def add(a, b):"),
    Manner("glob in the path", Send("search", {"pattern": "LIMIT", "path": "src/**/*.py"}), "1: LIMIT = 10"),
    Manner("directory as a glob", Send("search", {"pattern": "LIMIT", "glob": "src/"}), "1: LIMIT = 10"),
    Manner(
        "several paths to search",
        Send("search", {"pattern": "LIMIT", "path": ["src", "."]}),
        "1: LIMIT = 10",
        correction=("path must be a string, not an array", Send("search", {"pattern": "LIMIT", "path": "src"})),
    ),
    Manner(
        "pattern over several lines",
        Send("search", {"pattern": r"def add.*\n.*return"}),
        "1: def add",
        correction=("searched line by line", Send("search", {"pattern": "def add"})),
    ),
    Manner("file type", Send("grep", {"pattern": "LIMIT", "type": "py"}), "1: LIMIT = 10"),
    Manner(
        "regular expression for file names",
        Send("list_files", {"pattern": r"^src/.*\.py$"}),
        "the glob src/**/*.py]\n1 file:\nsrc/util.py",
    ),
    Manner("part of a file name", Send("glob", {"pattern": "util"}), "these contain it]\n1 file:\nsrc/util.py"),
    Manner("glob as the directory", Send("list_files", {"path": "src/*.py"}), "1 file:\nsrc/util.py"),
    Manner("`recursive`", Send("list_files", {"path": ".", "recursive": "true"}), "src/\n  util.py"),
    Manner("several globs in one", Send("search", {"pattern": "LIMIT", "glob": "*.py, *.md"}), "1: LIMIT = 10"),
    Manner("nothing to find", Send("search", {"pattern": "absent"}), "No matches in 9 files"),
]
