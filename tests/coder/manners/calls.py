"""Names, arguments and JSON as real models send them."""

from __future__ import annotations

import json

from .manner import APP, EDIT, EDITED, FIXED, NEW, OLD, PATCH, Manner, Send, edit, read

CALLS: list[Manner] = [
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
    Manner("number of the call after the name", Send("functions.read_file:0", {"file_path": "app.py"}), "def add"),
    Manner("another namespace", Send("repo_browser.open_file", {"path": "app.py"}), "def add"),
    Manner("`container.exec`", Send("container.exec", {"cmd": ["bash", "-lc", "echo hello"]}), "hello"),
    Manner("`view`", Send("view", {"path": "app.py", "view_range": [5, 6]}), "[lines 5 to 6 of 7"),
    Manner(
        "`create_file` for a file that exists",
        Send("create_file", {"path": "app.py", "content": FIXED}),
        files=EDITED,
        correction=("app.py exists (7 lines, 107 bytes)", Send("create_file", {"path": "app.py", "content": FIXED})),
    ),
    Manner(
        "`delete_file`", Send("delete_file", {"target_file": "src/util.py"}), "Deleted", files={"src/util.py": None}
    ),
    Manner(
        "`TodoWrite`",
        Send("TodoWrite", {"todos": [{"content": "look", "status": "in_progress", "activeForm": "Looking"}]}),
        "The plan is now:\n- [>] look",
    ),
    Manner(
        "`str_replace_based_edit_tool` to insert",
        Send(
            "str_replace_based_edit_tool", {"command": "insert", "path": "app.py", "insert_line": 1, "insert_text": "x"}
        ),
        files=EDITED,
        correction=("use edit_file: replace a line by itself and the new text", edit(OLD, NEW)),
    ),
    Manner(
        "`multi_tool_use.parallel`",
        Send("multi_tool_use.parallel", {"tool_uses": [{"recipient_name": "functions.read_file", "parameters": {}}]}),
        "def add",
        correction=("Call the tools themselves, several in one answer", read(file_path="app.py")),
    ),
    Manner(
        "a call to finish",
        Send("attempt_completion", {"result": "Done."}),
        "def add",
        correction=("answer in text without a call", read(file_path="app.py")),
    ),
    Manner("`view_image`", Send("view_image", {"path": "app.py"}), "def add"),
    Manner(
        "`python`, as in gpt-oss",
        Send("python", {"code": "print(1 + 1)"}),
        "[exit 0]\n2",
        correction=("use run_command with an interpreter", Send("run_command", {"command": "echo $((1 + 1))"})),
    ),
    Manner(
        "a search for a question",
        Send("codebase_search", {"query": "Where is the limit?"}),
        "1: LIMIT = 10",
        correction=("Use search with a regular expression", Send("search", {"pattern": "LIMIT"})),
    ),
    Manner(
        "`get_diagnostics`",
        Send("get_diagnostics", {}),
        "hello",
        correction=("linter or type checker with run_command", Send("run_command", {"command": "echo hello"})),
    ),
    # Names and forms of arguments
    Manner(
        "`AskUserQuestion`",
        Send(
            "AskUserQuestion",
            {"questions": [{"question": "Which?", "header": "Kind", "options": [{"label": "one"}, {"label": "two"}]}]},
        ),
        "The user answered: one",
    ),
    Manner("`ExitPlanMode`", Send("ExitPlanMode", {"plan": "1. Change it."}), "The mode is already ask"),
    Manner(
        "appending to a file",
        Send("write_file", {"file_path": "src/util.py", "content": "MORE = 1\n", "append": True}),
        files={"src/util.py": "LIMIT = 10\nMORE = 1\n"},
        correction=("can't append. Nothing was written", edit("LIMIT = 10\n", "LIMIT = 10\nMORE = 1\n", "src/util.py")),
    ),
    Manner(
        "another word for an operation",
        Send("move_or_delete", {"operation": "rename", "path": "src/util.py", "destination": "src/limits.py"}),
        files={"src/util.py": None, "src/limits.py": "LIMIT = 10\n"},
    ),
    Manner("first and last line", read(file_path="app.py", start_line=5, end_line="6"), "[lines 5 to 6 of 7"),
    Manner("range as text", read(file_path="app.py", range="L5-L6"), "[lines 5 to 6 of 7"),
    Manner("range up to -1", read(file_path="app.py", view_range=[5, -1]), "[lines 5 to 7 of 7]"),
    Manner("negative limit", read(file_path="app.py", limit=-1), "return total"),
    Manner("negative offset", read(file_path="app.py", offset=-20), "[ignored offset -20, which must not be negative]"),
    Manner(
        "several paths in one call",
        Send("read_file", {"paths": ["app.py", "src/util.py"]}),
        "def add",
        correction=(
            "file_path must be a string, not an array; make a separate call for each",
            read(file_path="app.py"),
        ),
    ),
    Manner("list with one path", Send("read_file", {"paths": ["app.py"]}), "def add"),
    Manner("path with `#L5`", read(file_path="app.py#L5-L6"), "without the line number]\ndef add"),
    Manner(
        "path with backslashes",
        read(file_path="src\\util.py"),
        "LIMIT",
        correction=("did you mean src/util.py?", read(file_path="src/util.py")),
    ),
    Manner(
        "path from the root of the project",
        read(file_path="/app.py"),
        "def add",
        correction=("did you mean app.py?", read(file_path="app.py")),
    ),
    Manner(
        "path with `~`",
        read(file_path="~/app.py"),
        "def add",
        correction=("did you mean app.py?", read(file_path="app.py")),
    ),
    Manner(
        "`@` before the path",
        read(file_path="@app.py"),
        "def add",
        correction=("did you mean app.py", read(file_path="app.py")),
    ),
    Manner(
        "glob for a file",
        read(file_path="src/*.py"),
        "LIMIT",
        correction=("use list_files with a pattern", read(file_path="src/util.py")),
    ),
    Manner(
        "flags as text",
        Send("search", {"pattern": "limit", "ignore_case": "True", "literal": "false"}),
        "1: LIMIT = 10",
    ),
    Manner(
        "a value that isn't in the list",
        Send("search", {"pattern": "LIMIT", "output_mode": "json"}),
        "LIMIT",
        correction=(
            "it is one of content, count, files_with_matches",
            Send("search", {"pattern": "LIMIT", "output_mode": "content"}),
        ),
    ),
    Manner(
        "missing argument",
        Send("edit_file", {"file_path": "app.py", "old_string": OLD}),
        files=EDITED,
        correction=("edits[0].new_string is missing", edit(OLD, NEW)),
    ),
    Manner(
        "timeout with its unit", Send("run_command", {"command": "echo hello", "timeout": "30s"}), "[exit 0]\nhello"
    ),
    Manner(
        "`timeout_ms` below a second",
        Send("run_command", {"command": "echo hello", "timeout_ms": 60_500}),
        "read as 60.5 seconds",
    ),
    Manner("several commands in a list", Send("run_command", {"commands": ["echo one", "echo two"]}), "one\ntwo"),
    Manner("command as a list in text", Send("run_command", {"command": '["echo", "one two"]'}), "one two"),
    Manner("prompt sign before a command", Send("run_command", {"command": "$ echo hello"}), "[exit 0]\nhello"),
    Manner("command in a code fence", Send("run_command", {"command": "```bash\necho hello\n```"}), "[exit 0]\nhello"),
    Manner("`cd` before a command", Send("run_command", {"command": "cd src && cat util.py"}), "LIMIT = 10"),
    Manner(
        "file written by a here-document",
        Send("bash", {"command": "cat > new.py <<'EOF'\nx = 1\nEOF"}),
        files={"new.py": "x = 1\n"},
    ),
    Manner(
        "edits encoded twice",
        Send("edit_file", {"file_path": "app.py", "edits": json.dumps(json.dumps([EDIT]))}),
        files=EDITED,
    ),
    Manner("path in every edit", Send("edit_file", {"edits": [{"file_path": "app.py", **EDIT}]}), files=EDITED),
    Manner(
        "edits of several files in one call",
        Send("edit_file", {"edits": [{"file_path": "app.py", **EDIT}, {"file_path": "src/util.py", **EDIT}]}),
        files=EDITED,
        correction=("the edits differ in file_path: make a separate call for each", edit(OLD, NEW)),
    ),
    Manner(
        "`replace_all` beside the edits",
        Send(
            "edit_file",
            {"file_path": "app.py", "edits": [{"old_string": "total", "new_string": "whole"}], "replace_all": "true"},
        ),
        files={"app.py": APP.replace("total", "whole")},
    ),
    Manner("plan as a checklist", Send("set_plan", {"steps": "- [x] look\n- [ ] change"}), "- [x] look\n- [ ] change"),
    Manner("`path` for `file_path`", read(path="app.py"), "def add"),
    Manner("names in camelCase", read(filePath="app.py"), "def add"),
    Manner("`start_line` for `offset`", read(file_path="app.py", start_line=5), "def mean"),
    Manner("numbers as text", read(file_path="app.py", offset="5", limit="1"), "def mean"),
    Manner("whole numbers as decimals", read(file_path="app.py", offset=5.0), "def mean"),
    Manner("null for what is omitted", read(file_path="app.py", offset=None, limit=None), "def add"),
    Manner("line 0", read(file_path="app.py", offset=0), "def add"),
    Manner("unknown argument", read(file_path="app.py", color="red"), "[ignored unknown argument color"),
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
    Manner("comments", Send("read_file", '{\n  // the app\n  "file_path": "app.py" /* all */\n}'), "def add"),
    Manner("keys without quotes", Send("read_file", '{file_path: "app.py"}'), "def add"),
    Manner(
        "line feeds inside a string",
        Send("write_file", '{"file_path": "new.py", "content": "x = 1\ny = 2\n"}'),
        files={"new.py": "x = 1\ny = 2\n"},
    ),
    Manner("backslashes of a regular expression", Send("search", r'{"pattern": "LIM\w+ = \d+"}'), "1: LIMIT = 10"),
    Manner("null instead of an object", Send("list_files", "null"), "app.py"),
    Manner("an empty list instead of an object", Send("list_files", "[]"), "app.py"),
    Manner("a bare patch instead of JSON", Send("apply_patch", PATCH), files=EDITED),
    Manner("the same object twice", Send("read_file", '{"file_path": "app.py"}{"file_path": "app.py"}'), "def add"),
    Manner(
        "two calls in one",
        Send("read_file", '{"file_path": "app.py"}{"file_path": "src/util.py"}'),
        "def add",
        correction=("it holds several values; send a separate call for each", read(file_path="app.py")),
    ),
    Manner(
        "text cut off inside a string",
        Send("write_file", '{"file_path": "new.py", "content": "x = 1'),
        files={"new.py": "x = 1\n"},
        correction=("it ends inside a string", Send("write_file", {"file_path": "new.py", "content": "x = 1\n"})),
    ),
]
