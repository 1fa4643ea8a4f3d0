"""Parse a shell command line, so that each command in it can be checked against the rules.

`parse_line` finds every simple command that a POSIX shell might run for a line, including those inside substitutions,
subshells, loops and wrappers, and every file that the shell itself opens. Whether and in which order they run doesn't
matter: a line is allowed only if all of them are.

Where the meaning isn't certain, because shells differ or because the line computes commands, the result has a
`problem`, and the user has to be asked. A word is known only if it is literal. A word with a variable, a pattern or a
substitution keeps its source text.

This isn't a sandbox: the actions of an allowed program aren't visible here."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from accord.policy.shell.script import MAX_DEPTH, Found, NotAnalyzable, Script, SimpleCommand, Word, check_text
from accord.policy.shell.wrappers import SHELL_CHANGERS, CommandCollector

META = frozenset(" \t\n;&|<>()")
_NAME = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])")
# Only digits and operators: bash evaluates the value of an identifier, and runs substitutions in it.
_ARITHMETIC = re.compile(r"\$\(\([0-9+\-*/%<>=!&|^~?:, \t]*\)\)")
_BRACES = re.compile(
    r"\$\{(?:#?[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])(?:(?::?[-+]|%%?|##?)[A-Za-z0-9_./,+ -]*)?\}",
)
_REDIRECTION = re.compile(r"<<<|<<-|<<|<>|<&|<(?!\()|>>|>\||>&|>(?!\()|&>>|&>")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_SUBSCRIPTED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[")
_NUMBER = re.compile(r"[0-9]+(?=[<>])")
# Interactive zsh doesn't know comments by default, and would run them as words or commands.
_HARMLESS_COMMENT = re.compile(r"#[^\n;&|<>()$`'\"\\{}*?\[\]!]*(?=\n|\Z)")
_HOME = re.compile(r"~/[A-Za-z0-9_./+@%,-]*")
_CONTINUES = frozenset({"!", "{", "if", "then", "elif", "else", "while", "until", "do"})
_CLOSE = frozenset({"}", "fi", "done"})
_NOT_READ = frozenset({"case", "esac", "select", "function", "coproc", "[[", "]]", "repeat", "foreach", "always"})
_NOWHERE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/fd/0", "/dev/fd/1", "/dev/fd/2"})


def parse_line(line: str) -> Script:
    """Parse a shell command line. Never raises."""
    found = Found()
    problem = None
    try:
        if os.name == "nt":
            raise NotAnalyzable("the shells of this system aren't supported")
        check_text(line)
        _parse_into(line, found, 0)
    except NotAnalyzable as reason:
        problem = str(reason)
    return _script(found, problem)


def parse_argv(argv: Sequence[str]) -> Script:
    """Parse a command that is started without a shell: its words are literal, but may still run a shell."""
    found = Found()
    problem = None
    try:
        if not argv:
            raise NotAnalyzable("the command is empty")
        for word in argv:
            check_text(word.replace("\n", " "))
        CommandCollector(found, _parse_into).add(SimpleCommand(tuple(Word(word, True, word) for word in argv)), 0)
    except NotAnalyzable as reason:
        problem = str(reason)
    return _script(found, problem)


def _script(found: Found, problem: str | None) -> Script:
    if problem is None and any(not path.startswith(("/", "~")) for path in (*found.writes, *found.reads)):
        names = {simple.words[0].text for simple in found.commands if simple.words}
        if names & SHELL_CHANGERS:
            problem = "it changes the directory and then opens a file by a relative path"
    return Script(tuple(found.commands), tuple(found.writes), tuple(found.reads), tuple(found.suspects), problem)


def _parse_into(text: str, found: Found, depth: int) -> None:
    Parser(text, found, depth).commands("")


class Parser:
    """Recursive-descent parser for lists of commands.

    `at` is the position in `text`. Substitutions are parsed by the same object, so that here-documents are tracked
    across them; the texts of `eval`, `sh -c` and backticks get their own parser at a greater depth."""

    def __init__(self, text: str, found: Found, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise NotAnalyzable("commands are nested too deeply")
        self.text = text
        self.at: int = 0
        self.found = found
        self.depth: int = depth
        self.word_end: int = -1  # end of the last word
        self.heredocs: int = 0  # number of here-documents whose body starts after this line
        self._collector = CommandCollector(found, _parse_into)

    def commands(self, closer: str) -> None:
        """Parse commands up to the closing parenthesis, or to the end of the text if `closer` is empty."""
        command = _Command()
        waiting: list[
            tuple[str, bool, bool]
        ] = []  # here-documents: the delimiter, whether to strip tabs, whether the body is literal
        while True:
            self._blanks()
            char = self.peek()
            if char in ("", ")"):
                if char != closer:
                    raise NotAnalyzable("a ( isn't closed" if closer else "a ) has no matching (")
                if waiting:
                    raise NotAnalyzable("a here-document has no body")
                self._finish(command)
                self.at += len(closer)
                return
            if char == "\n":
                self._finish(command)
                command = _Command()
                self.at += 1
                self._bodies(waiting)
            elif char == "#":
                self._comment(command)
            elif char == "(":
                self._subshell(command)
            elif char in ";&|" and self.peek(2) != "&>":
                self._finish(command)
                command = _Command()
                self._operator()
            elif (number := _NUMBER.match(self.text, self.at)) or char in "<>&":
                self.at = number.end() if number else self.at
                redirection = _REDIRECTION.match(self.text, self.at)
                if redirection is None:  # a process substitution is a word
                    self._process(command)
                else:
                    self._redirect(command, redirection[0], waiting)
            else:
                self._word(command)

    def _blanks(self) -> None:
        while True:
            if self.peek() in (" ", "\t"):
                self.at += 1
            elif self.peek(2) == "\\\n":
                if self.heredocs:
                    raise NotAnalyzable("a line continuation comes between a here-document and its body")
                if self.at and self.text[self.at - 1] not in " \t\n":
                    raise NotAnalyzable("a word or operator is split across two lines")
                self.at += 2
            else:
                return

    def _process(self, command: _Command) -> None:
        if self.at == self.word_end or self.text[self.at - 1 : self.at].isdigit():
            raise NotAnalyzable("a process substitution is attached to a word")
        command.words.append(self.word())

    def _operator(self) -> None:
        if self.peek(2) in (";;", ";&", ";|"):
            raise NotAnalyzable("it has a ;; outside of a case")
        self.at += 2 if self.peek(2) in ("&&", "||", "|&") else 1

    def _comment(self, command: _Command) -> None:
        comment = _HARMLESS_COMMENT.match(self.text, self.at)
        if comment is None or not command.is_fresh:
            raise NotAnalyzable("it has a comment that some shells read as commands")
        self.at = comment.end()

    def _subshell(self, command: _Command) -> None:
        if not command.is_fresh:
            raise NotAnalyzable("a ( follows a word: a function, an array or a pattern")
        if self.peek(2) == "((":
            raise NotAnalyzable("it uses (( for arithmetic or nested subshells")
        self.at += 1
        self._substitution()
        command.closed = True

    def _word(self, command: _Command) -> None:
        word = self.word()
        plain = word.literal and word.source == word.text
        if command.is_fresh and plain:
            if word.text in _CONTINUES:
                return
            if word.text in _CLOSE:
                command.closed = True
                return
            if word.text in _NOT_READ:
                raise NotAnalyzable(f"{word.text!r} isn't supported")
            if word.text == "for":
                self._for()
                return
        if plain and word.text in ("{", "}"):
            raise NotAnalyzable(f"a {word.text} is where shells disagree about its meaning")
        if command.closed:
            raise NotAnalyzable(f"{word.text[:40]!r} follows the end of a group")
        if not command.words and _ASSIGNMENT.match(word.source):
            command.assignments.append(word)
        elif not command.words and _SUBSCRIPTED.match(word.source) and "=" in word.source:
            raise NotAnalyzable("it sets a variable with a subscript, which the shell evaluates")
        else:
            command.words.append(word)

    def _for(self) -> None:
        """Parse the head of a loop, `for NAME in WORDS;`, up to the separator."""
        self._blanks()
        name = self.word()
        self._blanks()
        if not name.literal or not name.source.isidentifier() or not name.source.isascii():
            raise NotAnalyzable("a loop without a variable name")
        if self.peek() not in (";", "\n"):
            if self.word().source != "in":
                raise NotAnalyzable("a kind of loop that isn't supported")
            while True:
                self._blanks()
                if self.peek() in (";", "\n") or self.peek(2) in ("<(", ">("):
                    break
                if not self.word().source:
                    raise NotAnalyzable("a kind of loop that isn't supported")
        if self.heredocs or self.peek() not in (";", "\n") or self.peek(2) in (";;", ";&", ";|"):
            raise NotAnalyzable("a kind of loop that isn't supported")
        self.at += 1

    def _redirect(self, command: _Command, operator: str, waiting: list[tuple[str, bool, bool]]) -> None:
        self.at += len(operator)
        self._blanks()
        command.redirected = True
        if operator in ("<<", "<<-"):
            delimiter = self.word()
            if not delimiter.literal or not delimiter.text or "\n" in delimiter.text:
                raise NotAnalyzable("a here-document whose end isn't certain")
            waiting.append((delimiter.text, operator == "<<-", delimiter.source != delimiter.text))
            self.heredocs += 1
            return
        target = self.word()
        if not target.source:
            raise NotAnalyzable(f"{operator} has no target")
        if operator == "<<<":
            return
        if operator in (">&", "<&") and target.source[0] in "-0123456789":
            if not re.fullmatch(r"-|[0-9]+-?", target.source):
                raise NotAnalyzable(f"{operator} has a target that shells read differently")
            return
        if operator == "&>" or operator == "&>>":
            command.closed = True  # some shells start a new command after it
        if operator == "<" and target.source.startswith("<(") and target.source.endswith(")"):
            return
        if operator == ">&" and target.source != target.text:
            raise NotAnalyzable(">& with a quoted name isn't read alike by all shells")
        path = target.text
        if not target.literal and not _HOME.fullmatch(target.source):
            raise NotAnalyzable("it opens a file whose name only the shell knows")
        if target.literal and path.startswith("~"):
            path = f"./{path}"  # a quoted ~ is a literal name, not the home directory
        if path.startswith(("/dev/tcp/", "/dev/udp/")) or operator == "<&":
            raise NotAnalyzable("it opens a network connection or a named descriptor")
        if path not in _NOWHERE:
            (self.found.reads if operator == "<" else self.found.writes).append(path)

    def _bodies(self, waiting: list[tuple[str, bool, bool]]) -> None:
        """Skip the bodies of the here-documents that started on the line that has just ended."""
        if self.heredocs > len(waiting):
            raise NotAnalyzable("a line ends inside another here-document")
        for delimiter, tabs, raw in waiting:
            while True:
                if self.at >= len(self.text):
                    raise NotAnalyzable("a here-document isn't closed")
                end = self.text.find("\n", self.at)
                line = self.text[self.at : end if end >= 0 else len(self.text)]
                self.at = end + 1 if end >= 0 else len(self.text)
                bare = line.lstrip("\t") if tabs else line
                if bare == delimiter:
                    break
                if line.lstrip().startswith(delimiter):
                    raise NotAnalyzable("a line of a here-document looks like its delimiter")
                if not raw and any(char in line for char in "$`\\"):
                    raise NotAnalyzable("the shell expands a here-document")
        self.heredocs -= len(waiting)
        waiting.clear()

    def _finish(self, command: _Command) -> None:
        if command.words or command.assignments:
            self._collector.add(SimpleCommand(tuple(command.words), tuple(command.assignments)), self.depth)

    # -- Words

    def peek(self, length: int = 1) -> str:
        return self.text[self.at : self.at + length]

    def word(self) -> Word:
        """Parse the word at the current position."""
        start = self.at
        value: list[str] = []
        literal = True
        bare: list[str] = []  # the characters outside quotes
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
                    raise NotAnalyzable("it ends with a backslash")
                if self.text[self.at + 1] == "\n":
                    raise NotAnalyzable("a word is split across two lines")
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
                    raise NotAnalyzable(f"it uses {self.peek(2)}…, which shells read differently")
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
            raise NotAnalyzable("a line break in a word comes between a here-document and its body")
        if literal and self._is_expanded(source, "".join(bare)):
            literal = False
        return Word("".join(value) if literal else source, literal, source)

    @staticmethod
    def _is_expanded(source: str, bare: str) -> bool:
        """Return whether a shell may expand the unquoted characters of a word."""
        if bare == source and bare in ("[", "]", "{}", "{", "}"):
            return False
        if any(char in bare for char in "*?[{"):
            return True
        return source.startswith(("~", "=")) or "=~" in bare or ":~" in bare

    def _single_quoted(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise NotAnalyzable("a ' isn't closed")
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
                raise NotAnalyzable("a \" isn't closed")
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
        """Parse an expansion; return True if it is only a literal dollar sign."""
        if self.peek(3) == "$((":
            arithmetic = _ARITHMETIC.match(self.text, self.at)
            if arithmetic is None:
                raise NotAnalyzable("it uses arithmetic with more than numbers")
            self.at = arithmetic.end()
            return False
        if self.peek(2) == "$(":
            self.at += 2
            self._substitution()
            return False
        if self.peek(2) == "${":
            braces = _BRACES.match(self.text, self.at)
            if braces is None:
                raise NotAnalyzable("it uses a ${…} that may do more than expand a variable")
            self.at = braces.end()
            return self._no_subscript()
        name = _NAME.match(self.text, self.at)
        if name is not None:
            self.at = name.end()
            return self._no_subscript()
        if self.text[self.at + 1 : self.at + 2] not in ("", " ", "\t", "\n", '"', "/", ".", ",", ")", ";"):
            raise NotAnalyzable(f"it uses {self.peek(2)}…, which shells read differently")
        value.append("$")
        self.at += 1
        return True

    def _no_subscript(self) -> bool:
        if self.peek() == "[":
            raise NotAnalyzable("it uses a variable with a subscript, which some shells evaluate")
        return False

    def _substitution(self) -> None:
        """Parse the commands in `$(…)` or `<(…)`, after its opening."""
        if self.heredocs:
            raise NotAnalyzable("a substitution comes between a here-document and its body")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise NotAnalyzable("commands are nested too deeply")
        self.commands(")")
        self.depth -= 1

    def _backtick(self, *, quoted: bool) -> None:
        end = self.text.find("`", self.at + 1)
        if end < 0:
            raise NotAnalyzable("a ` isn't closed")
        text = self.text[self.at + 1 : end]
        if "\\" in text or (quoted and '"' in text):
            raise NotAnalyzable("a `…` with quoting inside isn't read alike by all shells")
        self.at = end + 1
        _parse_into(text, self.found, self.depth + 1)


class _Command:
    """A command that is being parsed."""

    def __init__(self) -> None:
        self.words: list[Word] = []
        self.assignments: list[Word] = []
        self.redirected = False
        self.closed = False

    @property
    def is_fresh(self) -> bool:
        """Whether it has no parsed words yet, in which case reserved words are special."""
        return not (self.words or self.assignments or self.redirected or self.closed)
