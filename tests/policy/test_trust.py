"""Trusted directories."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.config.settings import load
from accord.errors import RuleError
from accord.policy.project import build_policy
from accord.policy.trust import Trust


@pytest.fixture
def trust(tmp_path: Path) -> Trust:
    return Trust(tmp_path / "data" / "trust.toml", clock=lambda: 1_800_000_000.0)


@pytest.fixture
def app(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    return folder


def test_no_directory_is_trusted_by_default(trust: Trust, app: Path) -> None:
    assert not trust.trusts(app)
    assert trust.add(app) == str(app)
    assert trust.trusts(app) and trust.directories() == [str(app)]
    assert trust.path.read_text().endswith(f'\n[[folder]]\npath = "{app}"\nadded = 2027-01-15T08:00:00Z\n')
    assert Trust(trust.path).trusts(app)


def test_to_trust_twice_is_to_trust_once(trust: Trust, app: Path) -> None:
    trust.add(app)
    trust.add(app)
    assert trust.directories() == [str(app)]


def test_trust_can_be_revoked(trust: Trust, app: Path) -> None:
    trust.add(app)
    trust.remove(app)
    assert not trust.trusts(app)


def test_neither_the_parent_nor_a_child_nor_a_sibling_is_trusted(trust: Trust, app: Path) -> None:
    trust.add(app)
    (app / "sub").mkdir()
    twin = app.with_name("app2")
    twin.mkdir()
    assert not any(trust.trusts(folder) for folder in (app / "sub", app.parent, twin, app / ".." / "app2"))
    assert trust.trusts(app / "sub" / "..")


def test_a_link_counts_as_the_directory_it_points_to(trust: Trust, app: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(app)
    assert trust.add(link) == str(app)
    evil = tmp_path / "evil"
    evil.mkdir()
    link.unlink()
    link.symlink_to(evil)
    assert not trust.trusts(link) and not trust.trusts(evil)


def test_a_trusted_directory_that_became_a_link_is_no_longer_trusted(trust: Trust, app: Path, tmp_path: Path) -> None:
    trust.add(app)
    evil = tmp_path / "evil"
    evil.mkdir()
    app.rmdir()
    app.symlink_to(evil)
    assert not trust.trusts(app) and not trust.trusts(evil) and trust.directories() == []
    assert "expected the absolute path of a directory, without links" in str(trust.problems[0])


def test_only_directories_can_be_trusted(trust: Trust, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "missing", "a\0b"):
        assert not trust.trusts(path)
        with pytest.raises(RuleError, match="isn't a directory"):
            trust.add(path)


def test_manual_edits_apply_and_problems_are_reported(trust: Trust, app: Path) -> None:
    trust.path.parent.mkdir()
    trust.path.write_text(f'[[folder]]\npath = "{app}"\n\n[[folder]]\npath = "relative"\n')
    trust.path.chmod(0o600)
    assert trust.directories() == [str(app)]
    assert [fault.line for fault in trust.problems] == [5]


def test_a_file_that_others_can_write_to_trusts_nothing(trust: Trust, app: Path) -> None:
    trust.add(app)
    trust.path.chmod(0o666)
    assert not trust.trusts(app)
    assert "chmod 600" in str(trust.problems[0])


def test_a_directory_with_hundreds_of_rules_must_be_trusted_first(app: Path, tmp_path: Path) -> None:
    """They are compared for each file that a search finds: a repository could keep the agent busy."""
    (app / "accord.toml").write_text(f"[permissions]\ndeny = {[f'path:**/{number}' for number in range(501)]}\n")
    user = tmp_path / "none.toml"
    with pytest.raises(RuleError, match="more than 500 rules; if you wrote them, run: accord trust"):
        build_policy(load(app, user_file=user), app, "accord")
    build_policy(load(app, user_file=user, trusted=True), app, "accord")
