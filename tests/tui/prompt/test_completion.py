"""Completion, mentions, history and drafts."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Any

import pytest

from accord.model.session import Command
from accord.tui.prompt.completion import commands_for, files_for, partial_file_name
from accord.tui.prompt.drafts import Drafts, Unsent
from accord.tui.prompt.files import Files, best
from accord.tui.prompt.history import History
from accord.tui.prompt.paste import files_in, mentions

COMMANDS = [Command(name="plan", description="Plans", hint="what"), Command(name="explain", description="Explains")]


def test_a_slash_lists_the_commands_and_letters_narrow_them() -> None:
    assert [each.label for each in commands_for("/", COMMANDS)] == ["/explain", "/plan"]
    assert [each.text for each in commands_for("/pl", COMMANDS)] == ["/plan ", "/explain "]
    assert commands_for("say /pl", COMMANDS) == []


def test_the_hint_of_a_command_is_shown_after_it() -> None:
    (hint,) = commands_for("/plan ", COMMANDS)
    assert (hint.label, hint.only_hint) == ("what", True)


def test_an_at_sign_starts_a_mention_except_inside_a_word() -> None:
    assert partial_file_name("look at @src/ma") == "src/ma"
    assert partial_file_name("mail me@example") is None


def test_a_name_with_spaces_is_quoted() -> None:
    (file,) = files_for("my", ["my file.txt"])
    assert file.text == '@"my file.txt" '


def test_ignored_files_are_left_out(tmp_path: Path) -> None:
    for name in ("src/app.py", "src/app.pyc", "build/app.py", "docs/keep.log", "docs/.gitignore", ".git/config"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("!keep.log\n" if name == "docs/.gitignore" else "")
    (tmp_path / ".gitignore").write_text("build/\n*.pyc\n*.log\n")
    found = Files(tmp_path).matching("")
    assert "src/app.py" in found
    assert "docs/keep.log" in found
    assert not {"src/app.pyc", "build/", "build/app.py", ".git/config"} & set(found)


def test_the_best_match_is_first() -> None:
    names = ["a/model_view.py", "model.py", "tests/test_model.py", "my_old_deliverable.txt"]
    assert best("model", names)[:3] == ["model.py", "a/model_view.py", "tests/test_model.py"]
    assert best("mdv", names) == ["a/model_view.py", "my_old_deliverable.txt"]


def test_prompts_are_saved_between_runs(tmp_path: Path) -> None:
    history = History(tmp_path / "deep" / "history.jsonl")
    for text in ("one", "two\nlines", "two\nlines"):
        history.add(text)
    assert History(tmp_path / "deep" / "history.jsonl").prompts == ["one", "two\nlines"]


def test_a_damaged_history_does_not_stop_the_client(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'"good"\n{broken\n\xff\xfe\n17\n')
    assert History(path).prompts == ["good"]


def claim(folder: Path, project: str) -> str:
    """Claim drafts as a new client."""
    drafts = Drafts(folder)
    text = drafts.claim(project).text
    drafts.close()
    return text


def test_drafts_are_saved_per_project(tmp_path: Path) -> None:
    for project, text in (("/a", "half a sentence"), ("/b", "another"), ("/c", "third"), ("/c", "")):
        drafts = Drafts(tmp_path)
        drafts.save(project, text)
        drafts.close()
    assert [claim(tmp_path, project) for project in ("/a", "/b")] == ["half a sentence", "another"]


def test_a_draft_belongs_to_its_client_while_that_runs(tmp_path: Path) -> None:
    first, second = Drafts(tmp_path), Drafts(tmp_path)
    first.save("/a", "typed in the first")
    assert second.claim("/a") == Unsent()
    second.save("/a", "typed in the second")
    first.close()
    second.close()
    assert claim(tmp_path, "/a") == "typed in the first\n\ntyped in the second"


def test_a_draft_claimed_by_another_client_does_not_hide_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("one", "two"):
        drafts = Drafts(tmp_path)
        drafts.save("/a", Unsent(text))
        drafts.close()
    stat, gone = Path.stat, next(path for path in tmp_path.glob("*.json") if "one" in path.read_text())

    def stat_after_claim(path: Path, **more: Any) -> os.stat_result:
        if path == gone:
            path.unlink(missing_ok=True)
        return stat(path, **more)

    monkeypatch.setattr(Path, "stat", stat_after_claim)
    assert claim(tmp_path, "/a") == "two"


def test_a_lock_released_while_it_was_opened_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = Drafts(tmp_path)
    left.save("/a", Unsent("half"))
    left.close()
    flock = fcntl.flock

    def late(file: Any, how: int) -> None:
        for lock in tmp_path.glob("*.lock"):
            lock.unlink()
        flock(file, how)

    drafts = Drafts(tmp_path)
    with monkeypatch.context() as race:
        race.setattr(fcntl, "flock", late)
        assert drafts.claim("/a") == Unsent()
    assert drafts.is_one_held, "so it is looked for again"
    assert drafts.claim("/a") == Unsent("half")
    drafts.close()


def test_a_sent_draft_is_deleted(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    drafts.save("/a", "half")
    drafts.save("/a", "")
    assert not list(tmp_path.iterdir())


def put_in(text: str, cwd: Path) -> str:
    """Return the text that a paste inserts."""
    return mentions(files_in(text, cwd), cwd)


def test_dropped_file_paths_become_mentions(tmp_path: Path) -> None:
    for name in ("shot.png", "my notes.txt"):
        (tmp_path / name).write_text("")
    assert put_in(f"{tmp_path}/shot.png", tmp_path) == "@shot.png "
    assert put_in(f"'{tmp_path}/my notes.txt' ", tmp_path) == '@"my notes.txt" '
    assert put_in(f"{tmp_path}/my\\ notes.txt {tmp_path}/shot.png", tmp_path) == '@"my notes.txt" @shot.png '
    assert put_in(f"{tmp_path}/my notes.txt", tmp_path) == '@"my notes.txt" '
    assert put_in(f"file://{tmp_path}/my%20notes.txt", tmp_path) == '@"my notes.txt" '


def test_text_that_only_looks_like_a_path_is_pasted_unchanged(tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_text("")
    for text in ("/nowhere/shot.png", "shot.png", f"look at {tmp_path}/shot.png", "don't", "", "'"):
        assert put_in(text, tmp_path) == ""
