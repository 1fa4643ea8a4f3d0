"""Strings of Lua and of Emacs Lisp. What is quoted here comes out of their readers as it went in."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = re.compile(
    "and|break|do|else|elseif|end|false|for|function|goto|if|in|local|nil|not|or|repeat|return|then|true|until|while"
)


def lua(text: str) -> str:
    """A string of Lua."""
    plain = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    # Three digits always: a digit that follows would else be read as part of the number.
    return '"' + "".join(plain.get(c, f"\\{ord(c):03d}" if _is_control(c) else c) for c in text) + '"'


def lua_list(words: list[str]) -> str:
    return "{ " + ", ".join(map(lua, words)) + " }" if words else "{}"


def lua_key(name: str) -> str:
    """A key of a table: bare where that can be, in brackets otherwise."""
    return name if _NAME.fullmatch(name) and not _WORDS.fullmatch(name) else f"[{lua(name)}]"


def elisp(text: str) -> str:
    """A string of Emacs Lisp."""
    plain = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(plain.get(c, f"\\{ord(c):03o}" if _is_control(c) else c) for c in text) + '"'


def elisp_list(words: list[str]) -> str:
    return "'(" + " ".join(map(elisp, words)) + ")" if words else "nil"


def _is_control(letter: str) -> bool:
    return ord(letter) < 32 or ord(letter) == 127
