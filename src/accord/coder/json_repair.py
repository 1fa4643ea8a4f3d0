"""Decode JSON that models write almost right.

Only repairs with one possible meaning are made. Text that ends inside a string is not repaired: half a file must not be
written as if it were whole. That is why this isn't a general repair library, which completes such strings."""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import Any

import msgspec

MAX_CHARS = 2_000_000
"""Longer text is decoded only if it is valid."""
_FENCE = re.compile(r"\A\s*```\w*\s*\n(.*?)\n?\s*```\s*\Z", re.S)
_TAGS = re.compile(r"(?:\s|<\|[^|<>]*\|>|</?\w+>)+\Z")
"""Special tokens and tags of chat templates, which some servers leave at the end."""
_AFTER = re.compile(r"[\s}\]`;]*\Z")
"""Other text that may follow a value."""
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.S)
_CLOSING = {"{": "}", "[": "]"}
_NAMES = {"true": True, "false": False, "null": None, "undefined": None}


def decode(text: str) -> Any:
    """Decode JSON, repaired if necessary. Raises `ValueError` that describes the problem."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        problem = str(error)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if len(text) > MAX_CHARS:
        raise ValueError(problem)
    if match := _FENCE.match(text):
        text = match[1]
    text = _TAGS.sub("", text).strip()
    plain = _without_comments(text)
    closing, in_string = _find_unclosed(text)
    if in_string and _find_unclosed(plain)[1]:  # a comment may hold a single quotation mark
        raise ValueError("it ends inside a string")
    for candidate in (text, _without_stray_escapes(text), text + closing, plain):
        for read in (_read_first, _read_python):
            try:
                # Encoding refuses what JSON can't express: half of a surrogate pair, a Python set of lists.
                return msgspec.json.decode(msgspec.json.encode(read(candidate)))
            except SeveralValues as error:
                raise ValueError(str(error)) from None
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError, msgspec.MsgspecError):
                continue
    raise ValueError(problem)


class SeveralValues(ValueError):
    """A text holds several different values: the arguments of several calls."""

    def __init__(self) -> None:
        super().__init__("it holds several values; send a separate call for each")


def _read_first(text: str) -> Any:
    """Return the first value that isn't an empty object, if only the end of a template or the same value follows."""
    decoder = json.JSONDecoder(strict=False)
    values: list[Any] = []
    position = 0
    while (match := _AFTER.match(text, position)) is None:
        value, end = decoder.raw_decode(text, position)
        while end < len(text) and text[end].isspace():
            end += 1
        position = end
        if value != {} and value not in values:
            values.append(value)
    if len(values) > 1:
        raise SeveralValues
    if not values and match.end() == 0:
        raise ValueError("there is no value")
    return values[0] if values else {}


def _read_python(text: str) -> Any:
    """Parse a Python literal: single quotes, trailing commas, `True` and `None`, backslashes of regular expressions;
    also keys without quotes, as in JavaScript."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict) and None in node.keys:
            raise ValueError("not a literal")
    return ast.literal_eval(_Constants().visit(tree))


class _Constants(ast.NodeTransformer):
    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        node.keys = [ast.Constant(value=key.id) if isinstance(key, ast.Name) else key for key in node.keys]
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(value=_NAMES[node.id]) if node.id in _NAMES else node


def _without_stray_escapes(text: str) -> str:
    r"""Remove escapes such as `\n` between the values of a JSON text, where escapes are invalid."""
    return re.sub(r'("(?:\\.|[^"\\])*")|\\[nrt]', lambda match: match[1] or " ", text, flags=re.S)


def _without_comments(text: str) -> str:
    return _COMMENT.sub(lambda match: match[1] or " ", text)


def _find_unclosed(text: str) -> tuple[str, bool]:
    """Return the brackets that are missing at the end, and whether the text ends inside a string."""
    open_brackets: list[str] = []
    quote = ""
    is_escaped = False
    for char in text:
        if quote:
            if is_escaped:
                is_escaped = False
            elif char == "\\":
                is_escaped = True
            elif char == quote:
                quote = ""
        elif char == '"' or (char == "'" and open_brackets):
            quote = char
        elif char in "{[":
            open_brackets.append(_CLOSING[char])
        elif char in "}]" and open_brackets and open_brackets[-1] == char:
            open_brackets.pop()
    # A number or a word at the end may itself be cut off.
    can_close = text.endswith(('"', "'", "}", "]"))
    return "".join(reversed(open_brackets)) if can_close else "", bool(quote)
