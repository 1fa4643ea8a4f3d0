"""Split command lines that the shell doesn't expand: words, quotes, and `|`, `||`, `&&` or `;` between commands.

`parser` finds every command that a line might run, to deny it. This module is for allowing without a question: a line
with a pattern, an expansion, a substitution, an assignment, a line break or a redirection isn't plain. The exceptions
are `2>&1` and output that goes to /dev/null."""

from __future__ import annotations

import re

_SPACE = re.compile(r"[ \t]+")
_OPERATOR = re.compile(r"\|\||&&|[|;]")
_DISCARD = re.compile(r"(?:2>&1|[12]?>[ ]?/dev/null)(?=[ \t|;&]|\Z)")
# `~` and `=` expand at the start of a word only (`=` in zsh), and `#` starts a comment there.
_WORD = re.compile(r"""(?![~=#])(?:[A-Za-z0-9_./:,@%+=~#-]|'[^'\n]*'|"[^"$`\\!\n]*")+""")
_QUOTED = re.compile(r"""'([^']*)'|"([^"]*)\"""")


def split_plain(line: str) -> list[tuple[str, ...]] | None:
    """Return the words of each command, or None if the line isn't plain."""
    commands: list[tuple[str, ...]] = []
    words: list[str] = []
    at = 0
    while at < len(line):
        if (space := _SPACE.match(line, at)) is not None:
            at = space.end()
        elif (operator := _OPERATOR.match(line, at)) is not None:
            if not words:
                return None
            commands.append(tuple(words))
            words = []
            at = operator.end()
        elif words and line[at - 1] in " \t" and (discard := _DISCARD.match(line, at)) is not None:
            at = discard.end()
        else:
            word = _WORD.match(line, at)
            # An assignment sets a variable for the command, and a word right after an unsupported character isn't one.
            if word is None or (not words and "=" in word[0]):
                return None
            # `a=~/x` and `a:~/x` expand the tilde.
            if re.search(r"[=:]~", word[0]):
                return None
            words.append(_QUOTED.sub(lambda quoted: quoted[1] or quoted[2] or "", word[0]))
            at = word.end()
            if at < len(line) and line[at] not in " \t|;&":
                return None
    if not words:
        return None
    return [*commands, tuple(words)]
