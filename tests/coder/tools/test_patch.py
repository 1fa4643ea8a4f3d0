"""Patches in the V4A format: how they are read, and where their hunks apply."""

from __future__ import annotations

import pytest

from accord.coder.tools.base import ToolError
from accord.coder.tools.edits.patch import FilePatch, apply_hunks, parse_patch, prefers_patches, read_command

APP = """\
class First:
    def run(self):
        value = 1
        return value


class Second:
    def run(self):
        value = 1
        return value
"""


def patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


def apply(text: str, *lines: str) -> str:
    (file,) = parse_patch(patch("*** Update File: a.py", *lines))
    return apply_hunks(text, file.hunks, "a.py").text


def test_every_operation_is_read() -> None:
    files = parse_patch(
        patch(
            "*** Add File: new.py",
            "+one",
            "+",
            "+two",
            "*** Delete File: old.py",
            "*** Update File: a.py",
            "*** Move to: b.py",
            "@@",
            "-x",
            "+y",
        )
    )
    assert [(file.operation, file.path, file.destination) for file in files] == [
        ("add", "new.py", None),
        ("delete", "old.py", None),
        ("update", "a.py", "b.py"),
    ]
    assert files[0].content == "one\n\ntwo\n"
    assert (files[2].hunks[0].old, files[2].hunks[0].new) == (["x"], ["y"])


UPDATE = ["*** Update File: a.py", "@@", " x", "-y", "+z"]


@pytest.mark.parametrize(
    "text",
    [
        patch(*UPDATE),
        patch(*UPDATE) + "\n\n",
        patch(*UPDATE).replace("\n", "\r\n"),
        "\n".join(["*** Begin Patch", *UPDATE]),
        "\n".join(UPDATE),
        f"```diff\n{patch(*UPDATE)}\n```",
        f"<<'EOF'\n{patch(*UPDATE)}\nEOF",
        "\n".join(["*** Begin Patch", *UPDATE, "EOF"]),
        f"Here is the patch:\n{patch(*UPDATE)}",
        "\n".join(["--- a/a.py", "+++ b/a.py", "@@ -1,2 +1,2 @@", " x", "-y", "+z"]),
        "\n".join(["diff --git a/a.py b/a.py", "index 123..456 100644", "--- a/a.py", "+++ b/a.py", *UPDATE[1:]]),
        patch("*** Update File: a.py", "--- a/a.py", "+++ b/a.py", "@@ -1,2 +1,2 @@", " x", "-y", "+z"),
    ],
    ids=str,
)
def test_known_deviations_of_models_are_accepted(text: str) -> None:
    (file,) = parse_patch(text)
    assert (file.operation, file.path) == ("update", "a.py")
    assert [(hunk.anchors, hunk.old, hunk.new) for hunk in file.hunks] == [((), ["x", "y"], ["x", "z"])]


def test_a_unified_diff_may_create_and_delete_files() -> None:
    text = "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x\ndiff --git a/old.py b/old.py\n--- a/old.py\n+++ /dev/null\n"
    assert parse_patch(text) == [FilePatch("add", "new.py", content="x\n"), FilePatch("delete", "old.py")]


def test_two_sections_of_one_file_are_one_change() -> None:
    (file,) = parse_patch(patch("*** Update File: a.py", "-x", "+y", "*** Update File: a.py", "-v", "+w"))
    assert len(file.hunks) == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "changes no file"),
        (patch(), "changes no file"),
        (patch("@@", "-x", "+y"), "expected *** Update File"),
        (patch("*** Update File: a.py"), "says nothing about a.py"),
    ],
)
def test_an_invalid_patch_is_explained(text: str, problem: str) -> None:
    with pytest.raises(ToolError) as caught:
        parse_patch(text)
    assert problem in str(caught.value)


def test_context_lines_decide_where_a_hunk_applies() -> None:
    assert apply("a\nb\nc\na\nd\n", " a", "-d", "+e") == "a\nb\nc\na\ne\n"


def test_anchors_lead_to_the_right_place() -> None:
    changed = apply(APP, "@@ class Second:", "@@     def run(self):", "-        value = 1", "+        value = 2")
    assert changed == APP[: APP.rindex("value = 1")] + "value = 2\n        return value\n"
    assert apply(APP, "@@ class Second", "-        value = 1", "+        value = 2") == changed
    assert apply(APP, "@@ -8,2 +8,2 @@ class Second:", "-        value = 1", "+        value = 2") == changed


def test_a_place_that_is_not_unique_is_refused_with_its_lines() -> None:
    with pytest.raises(ToolError, match=r"several places, lines 3, 9; add lines of context, or an @@ line"):
        apply(APP, "-        value = 1", "+        value = 2")


def test_hunks_are_looked_for_after_the_one_before_them() -> None:
    changed = apply(APP, " class Second:", "+    x = 1", "@@", "-        value = 1", "+        value = 2")
    assert changed.count("value = 2") == 1
    assert changed.index("value = 2") > changed.index("x = 1")


def test_hunks_in_another_order_are_found_too() -> None:
    assert apply("a\nb\nc\n", "-c", "+C", "@@", "-a", "+A") == "A\nb\nC\n"


def test_context_with_other_whitespace_matches_and_new_lines_are_indented_to_fit() -> None:
    (file,) = parse_patch(patch("*** Update File: a.py", " def f():", "-    return 1", "+    x = 1", "+    return x"))
    patched = apply_hunks("class A:\n\tdef f():  \n\t\treturn 1\n", file.hunks, "a.py")
    assert patched.text == "class A:\n\tdef f():  \n\t\tx = 1\n\t\treturn x\n"
    assert "a.py: The old text differs from lines 2 to 3" in patched.adjusted


def test_typographic_characters_match() -> None:
    assert apply("It’s here\nb\n", " It's here", "-b", "+c") == "It’s here\nc\n"


def test_a_blank_line_needs_no_leading_space() -> None:
    assert apply("a\n\nb\n", " a", "", "-b", "+c") == "a\n\nc\n"
    assert apply("a\nb\n", " a", "-b", "+c", "", "") == "a\nc\n"


def test_line_endings_are_kept() -> None:
    assert apply("a\r\nb\r\nc\r\n", " a", "-b", "+B", "+x", " c") == "a\r\nB\r\nx\r\nc\r\n"
    assert apply("a\r\nb", "-b", "+c", "+d") == "a\r\nc\r\nd"
    assert apply("a\nb", "-b", "+c") == "a\nc"
    assert apply("a\r\nb\r\n", "+c", "*** End of File") == "a\r\nb\r\nc\r\n"


def test_a_hunk_at_the_end_of_the_file_applies_there() -> None:
    assert apply("x\ny\nx\n", "-x", "+z", "*** End of File") == "x\ny\nz\n"
    assert apply("x\n", "+y", "*** End of File") == "x\ny\n"
    assert apply("", "+y") == "y\n"


def test_lines_can_be_added_after_an_anchor_without_context() -> None:
    assert apply(APP, "@@ class Second:", "+    limit = 1").splitlines()[6:8] == ["class Second:", "    limit = 1"]


def test_lines_can_be_removed_without_a_trace() -> None:
    assert apply("a\nb\nc\n", "-b") == "a\nc\n"
    assert apply("a\n", "-a") == ""


def test_missing_context_is_reported_with_the_nearest_lines() -> None:
    with pytest.raises(ToolError) as caught:
        apply(APP, " class Third:", "-    pass", "+    x = 1")
    assert "a.py: the hunk can't be applied: 'class Third:…' was not found" in str(caught.value)
    assert str(caught.value).endswith("lines 1 to 2 are the most similar:\nclass First:\n    def run(self):")


@pytest.mark.parametrize(
    ("command", "directory"),
    [
        (f"apply_patch <<'EOF'\n{patch(*UPDATE)}\nEOF", None),
        (f'apply_patch << "EOF"\n{patch(*UPDATE)}\nEOF\n', None),
        (f"apply_patch <<PATCH\n{patch(*UPDATE)}\nPATCH", None),
        (f"applypatch '{patch(*UPDATE)}'", None),
        (f"cd src && apply_patch <<'EOF'\n{patch(*UPDATE)}\nEOF", "src"),
        (["apply_patch", patch(*UPDATE)], None),
        (["bash", "-lc", f"cd 'a b' && apply_patch <<'EOF'\n{patch(*UPDATE)}\nEOF"], "a b"),
    ],
    ids=str,
)
def test_a_command_that_applies_a_patch_is_recognized(command: object, directory: str | None) -> None:
    found = read_command(command)
    assert found is not None
    assert found.directory == directory
    assert parse_patch(found.patch)[0].path == "a.py"


@pytest.mark.parametrize(
    "command",
    [
        "git apply x.patch",
        "apply_patch < x.patch",
        f"apply_patch <<'EOF'\n{patch(*UPDATE)}\nEOF\nrm -rf .",
        f"apply_patch <<'EOF'\n{patch(*UPDATE)}\nEOF\nrm -rf .\nEOF",
        f"rm -rf .; apply_patch <<'EOF'\n{patch(*UPDATE)}\nEOF",
        f"cd $(rm -rf .) && apply_patch <<'EOF'\n{patch(*UPDATE)}\nEOF",
        ["rm", "-rf", "."],
        17,
    ],
    ids=str,
)
def test_a_command_that_does_anything_else_is_not_a_patch(command: object) -> None:
    assert read_command(command) is None


@pytest.mark.parametrize(
    ("model", "prefers"),
    [
        ("openai:gpt-6.1-sol", True),
        ("openrouter:openai/gpt-5.1-codex", True),
        ("openai:gpt-4.1", True),
        ("openai:o4-mini", True),
        ("openai:gpt-4o", False),
        ("openai:gpt-4-turbo", False),
        ("openai:gpt-3.5-turbo", False),
        ("groq:openai/gpt-oss-120b", False),
        ("anthropic:claude-sonnet-5-5", False),
        ("offline", False),
    ],
)
def test_models_that_were_trained_on_patches_are_recognized(model: str, prefers: bool) -> None:
    assert prefers_patches(model) is prefers
