"""docs/messages.md lists messages in alphabetical order, and only messages that the code still has."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| `(.+?)` \| (.+) \|$", re.MULTILINE)
ROWS = ROW.findall((ROOT / "docs" / "messages.md").read_text(encoding="utf-8"))


def read_texts() -> str:
    """Return every text of the code, with `…` for its placeholders."""
    texts = []
    for path in (ROOT / "src" / "accord").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = (each.value if isinstance(each, ast.Constant) else "…" for each in node.values)
                texts.append("".join(str(part) for part in parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(node.value)
    return "\n".join(texts)


TEXTS = read_texts()


@pytest.mark.parametrize("message", [message for message, _ in ROWS])
def test_a_listed_message_exists(message: str) -> None:
    # Look for the fixed parts in one text, in their order, since a placeholder may have been joined with others.
    pattern = "[^\n]*".join(re.escape(part.strip()) for part in message.split("…") if part.strip())
    assert re.search(pattern, TEXTS)


def test_messages_are_in_alphabetical_order() -> None:
    keys = [re.sub(r"[^a-z0-9 ]", "", message.lower()).strip() for message, _ in ROWS]
    assert len(keys) > 40
    assert keys == sorted(keys)
