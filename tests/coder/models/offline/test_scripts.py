"""How requests are carried out: which tools are called in which order, and what is said about it."""

from __future__ import annotations

import pytest
from coder.models.offline.talking import LOOKING, TOOLS, Talk, called, plan

from accord.coder.history import Summary
from accord.coder.models.offline.scripts.commands import failed_tests
from accord.coder.models.offline.scripts.plans import keywords
from accord.coder.models.offline.summary import summary_of

FOUND = "3 lines in 2 files:\na.py\n  1: foo\n  4: foo(foo)\nb.py\n  2: foobar"


# -- reading


async def test_several_files_are_read_in_one_answer() -> None:
    talk = Talk()
    first = await talk.ask("read a.py, b.py and c.py")
    assert [name for name, _ in called(first)] == ["read_file"] * 3
    last = await talk.tools_say("1\n", "2\n", "[the file is empty]")
    assert "`a.py` has 1 line" in last.text
    assert "`c.py` is empty." in last.text


async def test_a_part_of_a_file_is_asked_for_by_its_lines() -> None:
    talk = Talk()
    assert called(await talk.ask("read a.py lines 3-5")) == [("read_file", {"path": "a.py", "line": 3, "limit": 3})]
    last = await talk.tools_say("c\nd\ne\n[lines 3 to 5 of 90; go on with line=6]\n")
    assert last.text == "`a.py`, lines 3 to 5:\n\n```py\nc\nd\ne\n```"


async def test_a_long_file_is_shown_in_part_and_its_length_is_told() -> None:
    talk = Talk()
    await talk.ask("read a.py")
    text = "".join(f"line {number}\n" for number in range(2000))
    last = await talk.tools_say(f"{text}[lines 1 to 2,000 of 5,000; go on with line=2001]\n")
    assert last.text.startswith("`a.py` has 5,000 lines")
    assert last.text.count("\n") < 60


async def test_a_file_that_is_not_there_is_looked_for_by_its_name() -> None:
    talk = Talk()
    await talk.ask("read app.py")
    assert called(await talk.tools_say(("there is no file app.py", False))) == [
        ("find_files", {"pattern": "**/app.py"})
    ]
    assert called(await talk.tools_say("1 file:\nsrc/app.py")) == [("read_file", {"path": "src/app.py"})]
    assert "`src/app.py` has 1 line" in (await talk.tools_say("x\n")).text


async def test_of_several_files_of_a_name_none_is_taken() -> None:
    talk = Talk()
    await talk.ask("read app.py")
    await talk.tools_say(("there is no file app.py", False))
    last = await talk.tools_say("2 files:\na/app.py\nb/app.py")
    assert last.calls == []
    assert "- `a/app.py`\n- `b/app.py`" in last.text


async def test_a_fence_in_a_file_does_not_end_the_fence_around_it() -> None:
    talk = Talk()
    await talk.ask("read a.md")
    last = await talk.tools_say("```\nx\n```\n")
    assert last.text.endswith("````md\n```\nx\n```\n````")


# -- searching


async def test_a_search_tells_how_often_and_where() -> None:
    talk = Talk()
    first = await talk.ask('search for "foo" in all *.py, ignoring case')
    arguments = {"pattern": "foo", "path": ".", "glob": "*.py", "ignore_case": True}
    assert called(first) == [("search", arguments)]
    last = await talk.tools_say(FOUND)
    assert last.text.startswith("`foo` is in 3 lines of 2 files:")
    assert "- `a.py:4` `foo(foo)`" in last.text


async def test_a_search_in_vain_says_so() -> None:
    talk = Talk()
    await talk.ask("search for foo")
    assert (await talk.tools_say("Nothing was found.")).text.startswith("`foo` was not found in the project.")


# -- replacing


async def test_replacing_everywhere_searches_reads_and_edits_file_by_file() -> None:
    talk = Talk()
    assert called(await talk.ask("replace foo with bar everywhere")) == [
        ("search", {"pattern": "foo", "path": ".", "limit": 1000})
    ]
    assert called(await talk.tools_say(FOUND)) == [("read_file", {"path": "a.py"}), ("read_file", {"path": "b.py"})]
    edits = [{"old": "foo", "new": "bar", "all": True}]
    assert called(await talk.tools_say("foo\n\n\nfoo(foo)\n", "\nfoobar\n")) == [
        ("edit_file", {"path": "a.py", "edits": edits})
    ]
    assert called(await talk.tools_say("Edited a.py.")) == [("edit_file", {"path": "b.py", "edits": edits})]
    last = await talk.tools_say("Edited b.py.")
    assert last.text == "Replaced `foo` with `bar` at 4 places in `a.py` and `b.py`."


async def test_after_the_first_refusal_no_other_file_is_asked_about() -> None:
    talk = Talk()
    await talk.ask("replace foo with bar everywhere")
    await talk.tools_say(FOUND)
    await talk.tools_say("foo\n", "foo\n")
    last = await talk.tools_say(("the user did not allow this", False))
    assert last.calls == []
    assert "the user did not allow this" in last.text
    assert "0 files of 2 changed." in last.text


async def test_a_hundred_files_are_changed_in_few_answers() -> None:
    talk = Talk()
    await talk.ask("replace foo with bar everywhere")
    said = await talk.tools_say("\n".join(["100 lines:", *(f"f{number}.py\n  1: foo" for number in range(100))]))
    answers = 0
    while said.calls:
        answers += 1
        said = await talk.tools_say(*("foo\n" if name == "read_file" else "Edited." for name, _ in called(said)))
    assert answers < 50
    assert "at 100 places" in said.text


async def test_text_that_is_in_too_many_places_is_not_replaced() -> None:
    talk = Talk()
    await talk.ask("replace e with E everywhere")
    last = await talk.tools_say(f"{FOUND}\n[there is more: narrow the pattern]")
    assert last.calls == []
    assert "more places than I change at once" in last.text


async def test_what_is_not_there_is_not_replaced() -> None:
    talk = Talk()
    await talk.ask("replace foo with bar in a.py")
    last = await talk.tools_say("nothing\n")
    assert last.calls == []
    assert last.text == "`foo` was not found in `a.py`; nothing was changed."


async def test_a_renamed_word_leaves_longer_words_alone() -> None:
    talk = Talk()
    await talk.ask("rename the function foo to bar in a.py")
    said = await talk.tools_say("import x\n\nfoo = foobar + foo\n")
    edit = {"old": "foo = foobar + foo", "new": "bar = foobar + bar"}
    assert called(said) == [("edit_file", {"path": "a.py", "edits": [edit]})]


async def test_a_renamed_word_is_told_apart_from_its_like_by_the_lines_around_it() -> None:
    talk = Talk()
    await talk.ask("rename the function foo to bar in a.py")
    ((_, arguments),) = called(await talk.tools_say("foobar\n\nfoo\nend\n"))
    assert arguments["edits"] == [{"old": "\nfoo\nend", "new": "\nbar\nend"}]


async def test_a_file_that_was_not_read_whole_is_never_written_whole() -> None:
    talk = Talk()
    await talk.ask("rename the function foo to bar in a.py")
    last = await talk.tools_say("foo = foobar\n[lines 1 to 1 of 9; go on with line=2]\n")
    assert last.calls == []
    assert "too long" in last.text


# -- writing


async def test_a_new_file_is_written_unless_one_is_there() -> None:
    talk = Talk()
    assert called(await talk.ask('create docs/a.md with "x"')) == [("find_files", {"pattern": "docs/a.md"})]
    assert called(await talk.tools_say("No file has such a name.")) == [
        ("write_file", {"path": "docs/a.md", "content": "x\n"})
    ]
    assert (await talk.tools_say("Created docs/a.md (1 line, 2 bytes).")).text == "Created docs/a.md (1 line, 2 bytes)."


async def test_a_file_that_is_there_is_not_created_again() -> None:
    talk = Talk()
    await talk.ask('create a.md with "x"')
    last = await talk.tools_say("1 file:\na.md")
    assert last.calls == []
    assert "`overwrite a.md with …`" in last.text


async def test_a_name_with_the_marks_of_a_pattern_is_taken_to_the_letter() -> None:
    said = await Talk().ask('create "a[1]*.md" with "x"')
    assert called(said) == [("find_files", {"pattern": "/a\\[1\\]\\*.md"})]


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
async def test_appending_edits_the_last_lines_that_are_like_no_others(text: str, old: str) -> None:
    talk = Talk()
    await talk.ask('append "new" to a.txt')
    ((name, arguments),) = called(await talk.tools_say(text))
    assert name == "edit_file"
    assert arguments["edits"] == [{"old": old, "new": f"{old}\nnew"}]


async def test_appending_to_a_file_that_is_not_there_creates_it() -> None:
    talk = Talk()
    await talk.ask('append "new" to a.txt')
    said = await talk.tools_say(("there is no file a.txt", False))
    assert called(said) == [("write_file", {"path": "a.txt", "content": "new\n"})]


async def test_appending_to_a_file_that_may_not_be_read_stops() -> None:
    talk = Talk()
    await talk.ask('append "new" to a.txt')
    said = await talk.tools_say(("not allowed: a rule says so", False))
    assert said.calls == []


async def test_appending_to_a_long_file_reads_on_to_its_end() -> None:
    talk = Talk()
    await talk.ask('append "new" to a.txt')
    said = await talk.tools_say("a\n[lines 1 to 1 of 2; go on with line=2]\n")
    assert called(said) == [("read_file", {"path": "a.txt", "line": 2})]
    ((_, arguments),) = called(await talk.tools_say("b\n[lines 2 to 2 of 2]\n"))
    assert arguments["edits"] == [{"old": "b", "new": "b\nnew"}]


async def test_files_are_deleted_one_by_one_until_one_is_not() -> None:
    talk = Talk()
    await talk.ask("delete a.py, b.py and c.py")
    assert called(await talk.tools_say("Deleted a.py.")) == [("delete_file", {"path": "b.py"})]
    last = await talk.tools_say(("the user did not allow this", False))
    assert last.calls == []
    assert "Deleted before that: `a.py`." in last.text


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
    ({"test_x.py": ""}, "python3 -m unittest"),
]


@pytest.mark.parametrize(("files", "command"), PROJECTS, ids=[command for _, command in PROJECTS])
async def test_how_the_tests_are_run_is_read_from_the_project(files: dict[str, str], command: str) -> None:
    talk = Talk()
    said = await talk.ask("run the tests")
    assert called(said) == [("list_files", {"path": "."})]
    said = await talk.tools_say("\n".join(f"{name}  10 bytes" for name in files))
    while said.calls and said.calls[0].name == "read_file":
        said = await talk.tools_say(*(files[arguments["path"]] for _, arguments in called(said)))
    assert called(said) == [("run_command", {"command": command, "timeout": 600})]


async def test_a_project_that_does_not_say_how_it_is_tested_is_not_guessed_at() -> None:
    talk = Talk()
    await talk.ask("run the tests")
    last = await talk.tools_say("a.txt  1 byte")
    assert last.calls == []
    assert "no way to run the tests" in last.text


async def test_some_tests_are_run_with_the_runner_itself() -> None:
    talk = Talk()
    await talk.ask("run the tests in tests/test_a.py")
    await talk.tools_say("Makefile  9 bytes\npyproject.toml  9 bytes")
    said = await talk.tools_say("test:\n\tpytest", "[tool.pytest.ini_options]")
    assert called(said)[0][1]["command"] == "python3 -m pytest tests/test_a.py"


async def test_failed_tests_are_named() -> None:
    talk = Talk()
    await talk.ask("run the tests")
    await talk.tools_say("go.mod  9 bytes")
    await talk.tools_say("module x")
    last = await talk.tools_say("[exit 1]\n--- FAIL: TestA (0.00s)\nFAIL\n")
    assert last.text.startswith("1 test failed: `TestA`.")


def test_failed_tests_are_found_in_what_runners_print() -> None:
    assert failed_tests("FAILED tests/a.py::test_x - boom\n") == ["tests/a.py::test_x"]
    assert failed_tests("FAIL: test_y (a.T)\n") == ["test_y"]
    assert failed_tests("test a::b ... FAILED\n") == ["a::b"]


async def test_long_output_is_shown_by_its_end() -> None:
    talk = Talk()
    await talk.ask("run `make`")
    last = await talk.tools_say("[exit 0]\n" + "".join(f"line {number}\n" for number in range(500)))
    assert "line 499" in last.text
    assert "… 470 more lines" in last.text


async def test_a_mode_that_the_user_does_not_want_is_a_stop() -> None:
    talk = Talk()
    await talk.ask("switch to code mode then list files")
    last = await talk.tools_say("The user said no; the mode is still ask.")
    assert called(last) == []


# -- plans and todos


async def test_todos_are_remembered_shown_and_marked() -> None:
    talk = Talk()
    assert called(await talk.ask("remember to write docs")) == [("add_todo", {"content": "Write docs"})]
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
    await talk.tools_say("a.py  1 byte")
    await talk.tools_say("x\n")
    await talk.tools_say()
    assert (await talk.ask("show todos")).text == "1 todo of 1 to be done:\n\n1. [ ] Write docs"


async def test_todos_outlive_a_summary() -> None:
    talk = Talk()
    await talk.ask("remember to write docs")
    await talk.tools_say("The plan is now …")
    shortened = Talk(Summary(text=summary_of(talk.messages)))
    assert "1. [ ] Write docs" in (await shortened.ask("show todos")).text


async def test_a_todo_that_was_not_written_down_is_not_remembered() -> None:
    talk = Talk()
    await talk.ask("remember to write docs")
    await talk.tools_say(("full", False))
    assert (await talk.ask("show todos")).text.startswith("There are no todos.")


async def test_a_todo_that_is_not_there_cannot_be_marked() -> None:
    said = await Talk().ask("mark todo 7 done")
    assert said.calls == []
    assert said.text == "There is no todo 7: there are none."


async def test_a_plan_that_is_spelled_out_is_published_as_it_is() -> None:
    talk = Talk(tools=LOOKING)
    said = await talk.ask("plan: write the parser, then test it; release")
    assert plan(said) == [("Write the parser", "pending"), ("Test it", "pending"), ("Release", "pending")]
    assert "1. [ ] Write the parser" in (await talk.tools_say()).text


async def test_a_plan_for_a_wish_is_made_from_what_the_project_has() -> None:
    talk = Talk(tools=LOOKING)
    said = await talk.ask("make a plan for adding a timeout to fetch_page")
    assert [arguments["pattern"] for _, arguments in called(said)] == ["fetch_page", "timeout"]
    said = await talk.tools_say(
        "2 lines in 2 files:\nsrc/net.py\n  1: x\ntests/test_net.py\n  1: x", "Nothing was found."
    )
    await talk.tools_say("Makefile  3 bytes")
    said = await talk.tools_say("test:\n\tx\n")
    assert [content for content, _ in plan(said)] == [
        "Read src/net.py",
        "Carry it out: adding a timeout to fetch_page",
        "Extend the tests in tests/test_net.py",
        "Run the tests: make test",
    ]


def test_the_words_that_are_looked_for_are_names_and_the_longest() -> None:
    assert keywords("please add a config.value to the ParserState of the tokenizer and more") == [
        "config.value",
        "ParserState",
        "tokenizer",
    ]
    assert keywords("add it") == []


# -- fetching


async def test_a_page_is_fetched_and_its_beginning_shown() -> None:
    talk = Talk(tools=TOOLS)
    assert called(await talk.ask("fetch https://example.com")) == [("fetch_url", {"url": "https://example.com"})]
    assert "Example" in (await talk.tools_say("# Example\n")).text
