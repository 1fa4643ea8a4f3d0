"""Which folders are trusted."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.errors import RuleError
from accord.policy.trust import Trust


@pytest.fixture
def trust(tmp_path: Path) -> Trust:
    return Trust(tmp_path / "data" / "trust.toml", clock=lambda: 1_800_000_000.0)


@pytest.fixture
def app(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    return folder


def test_no_folder_is_trusted_until_it_is(trust: Trust, app: Path) -> None:
    assert not trust.trusts(app)
    assert trust.add(app) == str(app)
    assert trust.trusts(app) and trust.folders() == [str(app)]
    assert trust.path.read_text().endswith(f'\n[[folder]]\npath = "{app}"\nadded = 2027-01-15T08:00:00Z\n')
    assert Trust(trust.path).trusts(app)


def test_to_trust_twice_is_to_trust_once(trust: Trust, app: Path) -> None:
    trust.add(app)
    trust.add(app)
    assert trust.folders() == [str(app)]


def test_trust_can_be_taken_back(trust: Trust, app: Path) -> None:
    trust.add(app)
    trust.remove(app)
    assert not trust.trusts(app)


def test_neither_the_folder_above_nor_one_below_nor_a_twin_is_trusted(trust: Trust, app: Path) -> None:
    trust.add(app)
    (app / "sub").mkdir()
    twin = app.with_name("app2")
    twin.mkdir()
    assert not any(trust.trusts(folder) for folder in (app / "sub", app.parent, twin, app / ".." / "app2"))
    assert trust.trusts(app / "sub" / "..")


def test_a_link_is_the_folder_it_leads_to(trust: Trust, app: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(app)
    assert trust.add(link) == str(app)
    evil = tmp_path / "evil"
    evil.mkdir()
    link.unlink()
    link.symlink_to(evil)
    assert not trust.trusts(link) and not trust.trusts(evil)


def test_a_trusted_folder_that_became_a_link_is_no_longer_trusted(trust: Trust, app: Path, tmp_path: Path) -> None:
    trust.add(app)
    evil = tmp_path / "evil"
    evil.mkdir()
    app.rmdir()
    app.symlink_to(evil)
    assert not trust.trusts(app) and not trust.trusts(evil) and trust.folders() == []
    assert "expected the absolute path of a folder, without links" in str(trust.faults[0])


def test_what_is_no_folder_cannot_be_trusted(trust: Trust, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "missing", "a\0b"):
        assert not trust.trusts(path)
        with pytest.raises(RuleError, match="is no folder"):
            trust.add(path)


def test_hand_edits_count_and_faults_are_told(trust: Trust, app: Path) -> None:
    trust.path.parent.mkdir()
    trust.path.write_text(f'[[folder]]\npath = "{app}"\n\n[[folder]]\npath = "relative"\n')
    trust.path.chmod(0o600)
    assert trust.folders() == [str(app)]
    assert [fault.line for fault in trust.faults] == [5]


def test_what_others_may_write_to_trusts_nothing(trust: Trust, app: Path) -> None:
    trust.add(app)
    trust.path.chmod(0o666)
    assert not trust.trusts(app)
    assert "chmod 600" in str(trust.faults[0])
