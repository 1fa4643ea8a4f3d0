"""Carrying out requests: the tools that are called, their order, and the replies."""

from __future__ import annotations

import pytest
from coder.offline.offline_session import (
    LOOKING,
    TOOLS,
    Outcome,
    Talk,
    failure,
    file,
    hits,
    list_calls,
    names,
    plan,
    ran,
)

from accord.coder.history import Summary
from accord.coder.offline.actions.about import describe_project, documentation_of, first_paragraph
from accord.coder.offline.actions.commands import find_failed_tests
from accord.coder.offline.actions.plans import keywords
from accord.coder.offline.summary import summarize
from accord.coder.offline.tasks import Project

PLACES = ("a.py:1:foo", "a.py:4:foo(foo)", "b.py:2:foobar")
FOUND = hits(*PLACES)


# -- reading


async def test_several_files_are_read_in_one_answer() -> None:
    talk = Talk()
    first = await talk.ask("read a.py, b.py and c.py")
    assert [name for name, _ in list_calls(first)] == ["read_file"] * 3
    last = await talk.tools_say("1\n", "2\n", "")
    assert "`a.py` has 1 line" in last.text
    assert "`c.py` is empty." in last.text


async def test_a_part_of_a_file_is_asked_for_by_its_lines() -> None:
    talk = Talk()
    assert list_calls(await talk.ask("read a.py lines 3-5")) == [
        ("read_file", {"file_path": "a.py", "offset": 3, "limit": 3})
    ]
    last = await talk.tools_say(file("c\nd\ne\n", line=3, total=90))
    assert last.text == "`a.py`, lines 3 to 5:\n\n```py\nc\nd\ne\n```"


async def test_a_long_file_is_shown_in_part_and_its_length_is_reported() -> None:
    talk = Talk()
    await talk.ask("read a.py")
    text = "".join(f"line {number}\n" for number in range(2000))
    last = await talk.tools_say(file(text, total=5000))
    assert last.text.startswith("`a.py` has 5,000 lines")
    assert last.text.count("\n") < 60


async def test_a_missing_file_is_searched_for_by_name() -> None:
    talk = Talk()
    await talk.ask("read app.py")
    assert list_calls(await talk.tools_say(failure("there is no file app.py", "missing"))) == [
        ("list_files", {"pattern": "**/app.py"})
    ]
    assert list_calls(await talk.tools_say(names("src/app.py"))) == [("read_file", {"file_path": "src/app.py"})]
    assert "`src/app.py` has 1 line" in (await talk.tools_say("x\n")).text


async def test_if_several_files_have_the_name_none_is_read() -> None:
    talk = Talk()
    await talk.ask("read app.py")
    await talk.tools_say(failure("there is no file app.py", "missing"))
    last = await talk.tools_say(names("a/app.py", "b/app.py"))
    assert last.calls == []
    assert "- `a/app.py`\n- `b/app.py`" in last.text


async def test_a_fence_in_a_file_does_not_end_the_fence_around_it() -> None:
    talk = Talk()
    await talk.ask("read a.md")
    last = await talk.tools_say("```\nx\n```\n")
    assert last.text.endswith("````md\n```\nx\n```\n````")


# -- searching


async def test_a_search_reports_the_number_of_matches_and_their_places() -> None:
    talk = Talk()
    first = await talk.ask('search for "foo" in all *.py, ignoring case')
    arguments = {"pattern": "foo", "path": ".", "glob": "*.py", "literal": True, "ignore_case": True}
    assert list_calls(first) == [("search", arguments)]
    last = await talk.tools_say(FOUND)
    assert last.text.startswith("`foo` is in 3 lines of 2 files:")
    assert "- `a.py:4` `foo(foo)`" in last.text


async def test_a_search_without_results_reports_that() -> None:
    talk = Talk()
    await talk.ask("search for foo")
    assert (await talk.tools_say(hits())).text.startswith("`foo` was not found in the project.")


async def test_a_search_that_did_not_finish_does_not_claim_that_there_is_nothing() -> None:
    talk = Talk()
    await talk.ask("search for foo")
    assert (await talk.tools_say(hits(complete=False))).text.startswith("Couldn't search all of the project for `foo`:")


# -- replacing


async def test_replacing_everywhere_searches_reads_and_edits_file_by_file() -> None:
    talk = Talk()
    assert list_calls(await talk.ask("replace foo with bar everywhere")) == [
        ("search", {"pattern": "foo", "path": ".", "literal": True, "limit": 1000})
    ]
    assert list_calls(await talk.tools_say(FOUND)) == [
        ("read_file", {"file_path": "a.py"}),
        ("read_file", {"file_path": "b.py"}),
    ]
    edits = [{"old_string": "foo", "new_string": "bar", "replace_all": True}]
    assert list_calls(await talk.tools_say("foo\n\n\nfoo(foo)\n", "\nfoobar\n")) == [
        ("edit_file", {"file_path": "a.py", "edits": edits})
    ]
    assert list_calls(await talk.tools_say("Edited a.py.")) == [("edit_file", {"file_path": "b.py", "edits": edits})]
    last = await talk.tools_say("Edited b.py.")
    assert last.text == "Replaced `foo` with `bar` (4 places) in `a.py` and `b.py`."


async def test_after_the_first_refusal_no_other_file_is_asked_about() -> None:
    talk = Talk()
    await talk.ask("replace foo with bar everywhere")
    await talk.tools_say(FOUND)
    await talk.tools_say("foo\n", "foo\n")
    last = await talk.tools_say(failure("the user didn't allow this"))
    assert last.calls == []
    assert "the user didn't allow this" in last.text
    assert "0 files of 2 changed." in last.text


async def test_a_hundred_files_are_changed_in_few_answers() -> None:
    talk = Talk()
    await talk.ask("replace foo with bar everywhere")
    said = await talk.tools_say(hits(*(f"f{number}.py:1:foo" for number in range(100))))
    answers = 0
    while said.calls:
        answers += 1
        said = await talk.tools_say(*("foo\n" if name == "read_file" else "Edited." for name, _ in list_calls(said)))
    assert answers < 50
    assert "(100 places)" in said.text


async def test_text_that_is_in_too_many_places_is_not_replaced() -> None:
    talk = Talk()
    await talk.ask("replace e with E everywhere")
    last = await talk.tools_say(hits(*PLACES, complete=False))
    assert last.calls == []
    assert "too many places to change at once" in last.text


async def test_text_that_does_not_occur_is_not_replaced() -> None:
    talk = Talk()
    await talk.ask("replace foo with bar in a.py")
    last = await talk.tools_say("nothing\n")
    assert last.calls == []
    assert last.text == "`foo` was not found in `a.py`; nothing changed."


async def test_renaming_does_not_change_longer_words() -> None:
    talk = Talk()
    await talk.ask("rename the function foo to bar in a.py")
    said = await talk.tools_say("import x\n\nfoo = foobar + foo\n")
    edit = {"old_string": "foo = foobar + foo", "new_string": "bar = foobar + bar"}
    assert list_calls(said) == [("edit_file", {"file_path": "a.py", "edits": [edit]})]


async def test_an_ambiguous_rename_includes_the_lines_around_it() -> None:
    talk = Talk()
    await talk.ask("rename the function foo to bar in a.py")
    ((_, arguments),) = list_calls(await talk.tools_say("foobar\n\nfoo\nend\n"))
    assert arguments["edits"] == [{"old_string": "\nfoo\nend", "new_string": "\nbar\nend"}]


async def test_a_file_that_was_not_read_whole_is_never_written_whole() -> None:
    talk = Talk()
    await talk.ask("rename the function foo to bar in a.py")
    last = await talk.tools_say(file("foo = foobar\n", total=9))
    assert last.calls == []
    assert "too long" in last.text


# -- writing


async def test_a_new_file_is_written_unless_it_exists() -> None:
    talk = Talk()
    assert list_calls(await talk.ask('create docs/a.md with "x"')) == [("list_files", {"pattern": "docs/a.md"})]
    assert list_calls(await talk.tools_say(names())) == [("write_file", {"file_path": "docs/a.md", "content": "x\n"})]
    assert (await talk.tools_say("Created docs/a.md (1 line, 2 bytes).")).text == "Created docs/a.md (1 line, 2 bytes)."


async def test_an_existing_file_is_not_created_again() -> None:
    talk = Talk()
    await talk.ask('create a.md with "x"')
    last = await talk.tools_say(names("a.md"))
    assert last.calls == []
    assert "`overwrite a.md with …`" in last.text


async def test_glob_characters_in_a_file_name_are_escaped() -> None:
    said = await Talk().ask('create "a[1]*.md" with "x"')
    assert list_calls(said) == [("list_files", {"pattern": "/a\\[1\\]\\*.md"})]


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("one\ntwo\n", "two"),
        ("one\ntwo", "two"),
        ("x\nx\nx\n", "x\nx\nx"),
        ("end\na\nend\n", "a\nend"),
        ("a\n\n\n", "a"),
    ],
)
async def test_appending_edits_the_shortest_unique_end_of_the_file(text: str, old: str) -> None:
    talk = Talk()
    await talk.ask('append "new" to a.txt')
    ((name, arguments),) = list_calls(await talk.tools_say(text))
    assert name == "edit_file"
    assert arguments["edits"] == [{"old_string": old, "new_string": f"{old}\nnew"}]


async def test_appending_to_a_missing_file_creates_it() -> None:
    talk = Talk()
    await talk.ask('append "new" to a.txt')
    said = await talk.tools_say(failure("there is no file a.txt", "missing"))
    assert list_calls(said) == [("write_file", {"file_path": "a.txt", "content": "new\n"})]


async def test_appending_to_a_file_that_may_not_be_read_stops() -> None:
    talk = Talk()
    await talk.ask('append "new" to a.txt')
    said = await talk.tools_say(failure("not allowed: a rule says so"))
    assert said.calls == []


async def test_appending_to_a_long_file_reads_all_of_it() -> None:
    talk = Talk()
    await talk.ask('append "new" to a.txt')
    said = await talk.tools_say(file("a\n", total=2))
    assert list_calls(said) == [("read_file", {"file_path": "a.txt", "offset": 2})]
    ((_, arguments),) = list_calls(await talk.tools_say(file("b\n", line=2, total=2)))
    assert arguments["edits"] == [{"old_string": "b", "new_string": "b\nnew"}]


async def test_files_are_deleted_one_by_one_until_one_is_not() -> None:
    talk = Talk()
    await talk.ask("delete a.py, b.py and c.py")
    assert list_calls(await talk.tools_say("Deleted a.py.")) == [
        ("move_or_delete", {"operation": "delete", "file_path": "b.py"})
    ]
    last = await talk.tools_say(failure("the user didn't allow this"))
    assert last.calls == []
    assert "Already deleted: `a.py`." in last.text


# -- commands


PROJECTS = [
    ({"Makefile": "build:\n\tcc\ntest: build\n\t./t\n"}, "make test"),
    ({"Makefile": "all:\n", "pyproject.toml": "[tool.pytest.ini_options]\n"}, "python3 -m pytest"),
    ({"pyproject.toml": "dev = ['pytest']", "uv.lock": ""}, "uv run pytest"),
    ({"package.json": '{"scripts": {"test": "vitest"}}'}, "npm test"),
    ({"package.json": '{"scripts": {"test": "vitest"}}', "yarn.lock": ""}, "yarn test"),
    ({"package.json": '{"scripts": {"test": "echo no test specified"}}', "go.mod": "module x"}, "go test ./..."),
    ({"package.json": "not json", "Cargo.toml": "[package]"}, "cargo test"),
    ({"justfile": "test:\n  x\n"}, "just test"),
    ({"test_x.py": ""}, "python3 -m pytest"),
]
BY_NAMES = [
    (names("foo.py", "tests/"), "python3 -m pytest"),
    (names("README.md", "tests/"), "python3 -m pytest"),
    (names("foo_test.py", ignored=[".venv/"]), ".venv/bin/python -m pytest"),
    (names("foo.py", "tests/", "venv/"), "venv/bin/python -m pytest"),
]


@pytest.mark.parametrize(("files", "command"), PROJECTS, ids=[command for _, command in PROJECTS])
async def test_the_test_command_is_read_from_the_project(files: dict[str, str], command: str) -> None:
    talk = Talk()
    said = await talk.ask("run the tests")
    assert list_calls(said) == [("list_files", {"path": "."})]
    said = await talk.tools_say(names(*files))
    while said.calls and said.calls[0].name == "read_file":
        said = await talk.tools_say(*(files[arguments["file_path"]] for _, arguments in list_calls(said)))
    assert list_calls(said) == [("run_command", {"command": command, "timeout": 600})]


@pytest.mark.parametrize(("listing", "command"), BY_NAMES)
async def test_python_tests_are_found_by_their_names_and_run_with_the_projects_python(
    listing: Outcome, command: str
) -> None:
    talk = Talk()
    await talk.ask("run the tests")
    assert list_calls(await talk.tools_say(listing)) == [("run_command", {"command": command, "timeout": 600})]


async def test_tests_run_with_the_test_command_of_the_projects_language() -> None:
    talk = Talk()
    await talk.ask("run the tests")
    await talk.tools_say(names("Cargo.toml", "src/", "tests/"))
    assert list_calls(await talk.tools_say("[package]"))[0][1]["command"] == "cargo test"


async def test_no_test_command_is_guessed_for_a_project_without_one() -> None:
    talk = Talk()
    await talk.ask("run the tests")
    last = await talk.tools_say(names("a.txt"))
    assert last.calls == []
    assert "no test command" in last.text


async def test_some_tests_are_run_with_the_runner_itself() -> None:
    talk = Talk()
    await talk.ask("run the tests in tests/test_a.py")
    await talk.tools_say(names("Makefile", "pyproject.toml"))
    said = await talk.tools_say("test:\n\tpytest", "[tool.pytest.ini_options]")
    assert list_calls(said)[0][1]["command"] == "python3 -m pytest tests/test_a.py"


async def test_failed_tests_are_named() -> None:
    talk = Talk()
    await talk.ask("run the tests")
    await talk.tools_say(names("go.mod"))
    await talk.tools_say("module x")
    last = await talk.tools_say(ran(1, "--- FAIL: TestA (0.00s)\nFAIL\n"))
    assert last.text.startswith("1 test failed: `TestA`.")


def test_failed_tests_are_found_in_the_output_of_runners() -> None:
    assert find_failed_tests("FAILED tests/a.py::test_x - boom\n") == ["tests/a.py::test_x"]
    assert find_failed_tests("FAIL: test_y (a.T)\n") == ["test_y"]
    assert find_failed_tests("test a::b ... FAILED\n") == ["a::b"]


async def test_long_output_is_shown_by_its_end() -> None:
    talk = Talk()
    await talk.ask("run `make`")
    last = await talk.tools_say(ran(0, "".join(f"line {number}\n" for number in range(500))))
    assert "line 499" in last.text
    assert "… 470 more lines" in last.text


async def test_a_rejected_mode_switch_ends_the_request() -> None:
    talk = Talk()
    await talk.ask("switch to code mode then list files")
    last = await talk.tools_say(Outcome("The user said no; the mode is still ask.", {"mode": "ask", "before": "ask"}))
    assert list_calls(last) == []


# -- plans and todos


async def test_todos_are_remembered_shown_and_marked() -> None:
    talk = Talk()
    assert plan(await talk.ask("remember to write docs")) == [("Write docs", "pending")]
    await talk.tools_say("The plan is now …")
    await talk.ask("todo: release")
    await talk.tools_say("The plan is now …")
    assert "1. [ ] Write docs\n2. [ ] Release" in (await talk.ask("show todos")).text
    said = await talk.ask("mark todo 1 done")
    assert plan(said) == [("Write docs", "completed"), ("Release", "pending")]
    assert (await talk.tools_say()).text == "Todo 1 is done: Write docs. 1 todo left."


async def test_todos_outlive_the_plan_of_a_request() -> None:
    talk = Talk()
    await talk.ask("remember to write docs")
    await talk.tools_say("The plan is now …")
    said = await talk.ask("list files then read a.py")
    assert plan(said)[-1] == ("Write docs", "pending")
    await talk.tools_say(names("a.py"))
    await talk.tools_say("x\n")
    await talk.tools_say()
    assert (await talk.ask("show todos")).text == "1 todo of 1 open:\n\n1. [ ] Write docs"


async def test_todos_outlive_a_summary() -> None:
    talk = Talk()
    await talk.ask("remember to write docs")
    await talk.tools_say("The plan is now …")
    shortened = Talk(Summary(text=summarize(talk.messages)))
    assert "1. [ ] Write docs" in (await shortened.ask("show todos")).text


async def test_a_todo_that_was_not_saved_is_not_remembered() -> None:
    talk = Talk()
    await talk.ask("remember to write docs")
    await talk.tools_say(failure("full"))
    assert (await talk.ask("show todos")).text.startswith("There are no todos.")


async def test_a_missing_todo_cannot_be_marked() -> None:
    said = await Talk().ask("mark todo 7 done")
    assert said.calls == []
    assert said.text == "There is no todo 7; you have no todos."


async def test_a_plan_that_is_spelled_out_is_published_as_it_is() -> None:
    talk = Talk(tools=LOOKING)
    said = await talk.ask("plan: write the parser, then test it; release")
    assert plan(said) == [("Write the parser", "pending"), ("Test it", "pending"), ("Release", "pending")]
    assert "1. [ ] Write the parser" in (await talk.tools_say()).text


async def test_a_plan_for_a_goal_is_made_from_the_project() -> None:
    talk = Talk(tools=LOOKING)
    said = await talk.ask("make a plan for adding a timeout to fetch_page")
    assert [arguments["pattern"] for _, arguments in list_calls(said)] == ["fetch_page", "timeout"]
    said = await talk.tools_say(hits("src/net.py:1:x", "tests/test_net.py:1:x"), hits())
    await talk.tools_say(names("Makefile"))
    said = await talk.tools_say("test:\n\tx\n")
    assert [content for content, _ in plan(said)] == [
        "Read src/net.py",
        "Implement it: adding a timeout to fetch_page",
        "Extend the tests in tests/test_net.py",
        "Run the tests: make test",
    ]


def test_keywords_are_identifiers_and_then_the_longest_words() -> None:
    assert keywords("please add a config.value to the ParserState of the tokenizer and more") == [
        "config.value",
        "ParserState",
        "tokenizer",
    ]
    assert keywords("add it") == []


# -- fetching


async def test_a_page_is_fetched_and_its_beginning_shown() -> None:
    talk = Talk(tools=TOOLS)
    assert list_calls(await talk.ask("fetch https://example.com")) == [("fetch_url", {"url": "https://example.com"})]
    assert "Example" in (await talk.tools_say("# Example\n")).text


# -- the project, its files and names


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (
            {
                "package.json": '{"name":"shop","description":"A shop","scripts":{"start":"node ."},'
                '"dependencies":{"koa":"^2"}}'
            },
            ["**shop**: A shop", "Dependencies: `koa`", "run: `npm start`"],
        ),
        (
            {
                "pyproject.toml": '[project]\nname = "tool"\ndescription = "A tool"\n'
                'dependencies = ["rich>=13", "httpx[http2]"]\n'
            },
            ["**tool**: A tool", "Dependencies: `rich` and `httpx`"],
        ),
        (
            {"Cargo.toml": '[package]\nname = "gauge"\ndescription = "Gauges"\n[dependencies]\nserde = "1"\n'},
            ["**gauge**: Gauges", "Dependencies: `serde`", "run: `cargo run`"],
        ),
        (
            {"go.mod": "module example.org/tally\n\nrequire github.com/spf13/cobra v1.8.0\n", "main.go": ""},
            ["**example.org/tally**", "Dependencies: `github.com/spf13/cobra`", "run: `go run .`"],
        ),
        ({"pyproject.toml": "not [toml", "package.json": "[]"}, ["The project has no README and no description."]),
    ],
)
def test_a_project_is_described_by_its_manifests(texts: dict[str, str], expected: list[str]) -> None:
    described = describe_project(Project(list(texts), texts), {})
    assert [each for each in expected if each not in described] == []


async def test_a_project_without_documents_is_described_by_its_main_file() -> None:
    talk = Talk()
    await talk.ask("what is this project?")
    await talk.tools_say(names("go.mod", "main.go", "util.go"))
    await talk.tools_say("module example.org/tally\n")
    asked = await talk.tools_say(Outcome("…", {"files": 3, "directories": {}}))
    assert list_calls(asked) == [("read_file", {"file_path": "main.go"})]
    last = await talk.tools_say("// Tally counts words in files.\npackage main\n\nfunc main() {}\n")
    assert last.text.startswith("**example.org/tally**: Tally counts words in files. (from `main.go`)\n")


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("main.rs", "//! Gauge measures.\npub struct Gauge;\n#[test]\nfn works() {}\n", "Gauge measures."),
        ("price.js", "// Prices with tax.\nexport const TAX = 0.19;\n", "Prices with tax."),
        ("a.js", "/**\n * The server.\n */\nlet a;\n", "The server."),
        ("a.sh", "#!/bin/sh\n# Deploy it.\nset -e\n", "Deploy it."),
        ("lib.rs", "#[cfg(test)]\nmod tests;\n", ""),
    ],
)
def test_the_documentation_of_a_file_ends_with_its_first_comment(path: str, text: str, expected: str) -> None:
    assert documentation_of(path, text) == expected


async def test_lines_of_a_file_in_another_directory_are_counted() -> None:
    talk = Talk()
    await talk.ask("how many lines in forecast.py")
    assert list_calls(await talk.tools_say(failure("there is no file forecast.py"))) == [
        ("list_files", {"pattern": "**/forecast.py"})
    ]
    await talk.tools_say(names("src/forecast.py"))
    assert (await talk.tools_say("1\n2\n")).text == "`src/forecast.py` has 2 lines."


async def test_the_readme_is_found_by_its_bare_name() -> None:
    talk = Talk()
    await talk.ask("show me the readme")
    asked = await talk.tools_say(failure("there is no file readme"))
    assert list_calls(asked) == [("list_files", {"pattern": "**/[Rr][Ee][Aa][Dd][Mm][Ee]*"})]
    assert list_calls(await talk.tools_say(names("README.md", "docs/README.md"))) == [
        ("read_file", {"file_path": "README.md"})
    ]


async def test_the_project_is_explained_from_its_own_files() -> None:
    talk = Talk()
    first = await talk.ask("what is this project?")
    assert list_calls(first) == [("list_files", {"path": "."})]
    second = await talk.tools_say(names("README.md", "main.py", "src/", "package.json"))
    assert list_calls(second) == [
        ("read_file", {"file_path": "package.json"}),
        ("read_file", {"file_path": "README.md"}),
    ]
    await talk.tools_say(
        '{\n  "name": "calc",\n  "scripts": {"test": "node --test"}\n}',
        "# Calc\n\n[![build](b.svg)](ci)\n\nAdds *numbers*,\nfast.\n\nMore.\n",
    )
    last = await talk.tools_say(Outcome("…", {"files": 5, "directories": {"src": 2, ".git": 9}}))
    assert last.text.startswith("**calc**: Adds *numbers*, fast. (from `README.md`)\n\n- Language: JavaScript\n")
    assert "- Directories: `src/` (2 files)\n" in last.text
    assert "- Commands: run: `python3 main.py`, test: `npm test`" in last.text
    assert ".git" not in last.text


async def test_an_empty_directory_gets_a_suggestion() -> None:
    talk = Talk()
    await talk.ask("what is this project?")
    await talk.tools_say(names())
    last = await talk.tools_say(Outcome("…", {"files": 0, "directories": {}}))
    assert last.text.startswith("This directory is empty.")


async def test_a_source_file_is_explained_by_its_docstring_and_definitions() -> None:
    talk = Talk()
    await talk.ask("what does main.py do?")
    last = await talk.tools_say('"""Command line\nof Calc.\n\nMore."""\n\ndef main():\n    """Print a sum."""\n')
    assert last.text == (
        "`main.py`: 7 lines of Python.\n\nCommand line of Calc.\n\nDefines:\n\n- line 6: `def main()`: Print a sum."
    )


async def test_a_source_file_in_another_language_is_explained_by_its_first_comment() -> None:
    talk = Talk()
    await talk.ask("explain main.rs")
    last = await talk.tools_say("// Adds numbers.\n// Fast.\n\nfn main() {}\n")
    assert "Adds numbers. Fast." in last.text
    assert "- line 4: `fn main() {}`" in last.text


async def test_a_file_without_documentation_is_shown() -> None:
    talk = Talk()
    await talk.ask("explain data.csv")
    last = await talk.tools_say("a,b\n1,2\n")
    assert last.text == "`data.csv`: 2 lines.\n\n```csv\na,b\n1,2\n```"


async def test_a_name_is_explained_by_its_definition() -> None:
    talk = Talk()
    first = await talk.ask("what does add() do?")
    assert list_calls(first) == [("outline", {"symbol": "add", "find": "definitions"})]
    await talk.tools_say(hits("calc.py:3:def add(a, b):"))
    last = await talk.tools_say(file("def add(a, b):\n    return a + b\n\n\ndef other():\n    pass\n", 3, 9))
    assert last.text == ("`add` is defined in `calc.py`, line 3:\n\n```py\ndef add(a, b):\n    return a + b\n```")


async def test_files_and_lines_are_counted() -> None:
    talk = Talk()
    await talk.ask("how many lines in a.py?")
    assert (await talk.tools_say(file("1\n2\n", total=7000))).text == "`a.py` has 7,000 lines."
    await talk.ask("how many files are there?")
    last = await talk.tools_say(Outcome("…", {"files": 12, "directories": {}}))
    assert last.text == "There are 12 files in the project, without ignored ones."


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("# Title\nText.\n", "Text."),
        ("Title\n=====\n\nText\nhere.\n\nMore.", "Text here."),
        ("<p align=center><img src=x></p>\n\n![logo](a.png)\n\n> quoted\n\n- item\n\nText.", "Text."),
        ("```sh\nrun\n\nit\n```\n\nText.", "Text."),
        ("<!-- hidden\n\nstill -->\nText.", "Text."),
        ("# Only a title\n", ""),
    ],
)
def test_the_first_paragraph_of_a_document_is_prose(text: str, first: str) -> None:
    assert first_paragraph(text) == first


def test_build_files_that_are_nested_too_deeply_are_ignored() -> None:
    deep = "[" * 50_000
    project = Project(["pyproject.toml", "package.json"], {"pyproject.toml": f"a = {deep}", "package.json": deep})
    assert project.description() is None
