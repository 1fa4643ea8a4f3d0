"""Reading one word of a shell command line: quotes, escapes, variables, substitutions.

What the shell will make of a word is known only when it is literal. A word with a variable, a pattern or a substitution
in it is kept as it was written and marked; the commands of a substitution are read like any others. Whatever bash, dash
and zsh do not read alike, or what can run code by a road that is not seen here, cannot be judged."""

from __future__ import annotations

import re

from accord.policy.script import MAX_DEPTH, Found, Unjudged, Word

META = frozenset(" \t\n;&|<>()")
_NAME = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])")
# Only digits and operators: an identifier may hold a text that bash evaluates, and runs what is in it.
_ARITHMETIC = re.compile(r"\$\(\([0-9+\-*/%<>=!&|^~?:, \t]*\)\)")
_BRACES = re.compile(
    r"\$\{(?:#?[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])(?:(?::?[-+]|%%?|##?)[A-Za-z0-9_./,+ -]*)?\}",
)


class Words:
    """Reads words from a text. What reads whole lists of commands is built on it."""

    def __init__(self, text: str, found: Found, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise Unjudged("commands are nested too deeply")
        self.text = text
        self.at = 0
        self.found = found
        self.depth = depth
        self.word_end = -1  # where the last word ended
        self.heredocs = 0  # those whose body comes after the end of this line

    def commands(self, closer: str) -> None:
        """Reads commands up to a closing parenthesis, or to the end."""
        raise NotImplementedError

    def inner(self, text: str) -> None:
        """Reads another text as commands."""
        raise NotImplementedError

    def peek(self, length: int = 1) -> str:
        return self.text[self.at : self.at + length]

    def word(self) -> Word:
        """The word that begins here."""
        start = self.at
        value: list[str] = []
        literal = True
        bare: list[str] = []  # the characters that no quote protects
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in META:
                if char in "<>" and self.at == start and self.peek(2) in ("<(", ">("):
                    self.at += 2
                    self._substitution()
                    literal = False
                    continue
                break
            if char == "\\":
                if self.at + 1 == len(self.text):
                    raise Unjudged("it ends with a backslash")
                if self.text[self.at + 1] == "\n":
                    raise Unjudged("a word is broken over two lines")
                value.append(self.text[self.at + 1])
                self.at += 2
            elif char == "'":
                value.append(self._single_quoted())
            elif char == '"':
                text, plain = self._double_quoted()
                value.append(text)
                literal = literal and plain
            elif char == "$":
                if self.peek(2) in ("$'", '$"'):
                    raise Unjudged(f"it uses {self.peek(2)}…, which not every shell reads alike")
                literal = self._dollar(value) and literal
            elif char == "`":
                self._backtick(quoted=False)
                literal = False
            else:
                value.append(char)
                bare.append(char)
                self.at += 1
        source = self.text[start : self.at]
        self.word_end = self.at
        if "\n" in source and self.heredocs:
            raise Unjudged("a line break in a word stands between a here-document and its text")
        if literal and self._is_expanded(source, "".join(bare)):
            literal = False
        return Word("".join(value) if literal else source, literal, source)

    @staticmethod
    def _is_expanded(source: str, bare: str) -> bool:
        """Whether a shell may make something else, or several words, of unprotected characters."""
        if bare == source and bare in ("[", "]", "{}", "{", "}"):
            return False
        if any(char in bare for char in "*?[{"):
            return True
        return source.startswith(("~", "=")) or "=~" in bare or ":~" in bare

    def _single_quoted(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise Unjudged("a ' is never closed")
        text = self.text[self.at + 1 : end]
        self.at = end + 1
        return text

    def _double_quoted(self) -> tuple[str, bool]:
        self.at += 1
        value: list[str] = []
        literal = True
        while True:
            char = self.peek()
            if not char:
                raise Unjudged('a " is never closed')
            if char == '"':
                self.at += 1
                return "".join(value), literal
            if char == "\\":
                following = self.text[self.at + 1 : self.at + 2]
                self.at += 2
                if following in ("$", "`", '"', "\\"):
                    value.append(following)
                elif following != "\n":
                    value.append("\\" + following)
            elif char == "$":
                literal = self._dollar(value) and literal
            elif char == "`":
                self._backtick(quoted=True)
                literal = False
            else:
                value.append(char)
                self.at += 1

    def _dollar(self, value: list[str]) -> bool:
        """Reads what begins with a dollar; true when it is nothing but a dollar."""
        if self.peek(3) == "$((":
            arithmetic = _ARITHMETIC.match(self.text, self.at)
            if arithmetic is None:
                raise Unjudged("it calculates with more than numbers")
            self.at = arithmetic.end()
            return False
        if self.peek(2) == "$(":
            self.at += 2
            self._substitution()
            return False
        if self.peek(2) == "${":
            braces = _BRACES.match(self.text, self.at)
            if braces is None:
                raise Unjudged("it uses a ${…} that may do more than name a variable")
            self.at = braces.end()
            return self._no_subscript()
        name = _NAME.match(self.text, self.at)
        if name is not None:
            self.at = name.end()
            return self._no_subscript()
        if self.text[self.at + 1 : self.at + 2] not in ("", " ", "\t", "\n", '"', "/", ".", ",", ")", ";"):
            raise Unjudged(f"it uses {self.peek(2)}…, which not every shell reads alike")
        value.append("$")
        self.at += 1
        return True

    def _no_subscript(self) -> bool:
        if self.peek() == "[":
            raise Unjudged("it uses a variable with a subscript, which some shells calculate")
        return False

    def _substitution(self) -> None:
        """Reads the commands of `$(…)` or `<(…)`, the opening of which has been read."""
        if self.heredocs:
            raise Unjudged("a substitution stands between a here-document and its text")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unjudged("commands are nested too deeply")
        self.commands(")")
        self.depth -= 1

    def _backtick(self, *, quoted: bool) -> None:
        end = self.text.find("`", self.at + 1)
        if end < 0:
            raise Unjudged("a ` is never closed")
        text = self.text[self.at + 1 : end]
        if "\\" in text or (quoted and '"' in text):
            raise Unjudged("a `…` with quoting inside is not read alike everywhere")
        self.at = end + 1
        self.inner(text)
