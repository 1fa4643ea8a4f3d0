"""The table of features: every row is shown by tests on both sides, and the page is up to date."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def load_features() -> ModuleType:
    """Import `docs/features.py`, which is not part of a package."""
    spec = importlib.util.spec_from_file_location("features_page", ROOT / "docs" / "features.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules.setdefault(spec.name, importlib.util.module_from_spec(spec))
    spec.loader.exec_module(module)
    return module


def test_every_feature_is_shown_by_tests_on_both_sides_and_the_page_says_which() -> None:
    features = load_features()
    assert (ROOT / "docs" / "features.md").read_text(encoding="utf-8") == features.page(), "run make features"
