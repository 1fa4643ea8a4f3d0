"""Taking a shell command line apart, so that each command in it can be judged by itself.

`judge` gives every simple command that a POSIX shell might run for a line, commands inside substitutions, subshells,
loops and wrappers included, and every file that the line itself reads or writes. Which of them will run, and in what
order, does not matter: a line is allowed only if all of them are. Where the reading is not certain, because shells
differ, because the line builds commands as it goes, or because it is none, the result says that it cannot be judged;
then somebody has to be asked. This is no sandbox: what an allowed program does by itself is not seen here."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from accord.policy.script import Found, Script, Simple, Unjudged, Word, check_text
from accord.policy.words import Words
from accord.policy.wrappers import SHELL_CHANGERS, Wrappers

_REDIRECTION = re.compile(r"<<<|<<-|<<|<>|<&|<(?!\()|>>|>\||>&|>(?!\()|&>>|&>")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_SUBSCRIPTED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[")
_NUMBER = re.compile(r"[0-9]+(?=[<>])")
# A shell that takes no comments would read one as words, or as commands.
_HARMLESS_COMMENT = re.compile(r"#[^\n;&|<>()$`'\"\\{}*?\[\]!]*(?=\n|\Z)")
_HOME = re.compile(r"~/[A-Za-z0-9_./+@%,-]*")
_GO_ON = frozenset({"!", "{", "if", "then", "elif", "else", "while", "until", "do"})
_CLOSE = frozenset({"}", "fi", "done"})
_NOT_READ = frozenset({"case", "esac", "select", "function", "coproc", "[[", "]]", "repeat", "foreach", "always"})
_NOWHERE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/fd/0", "/dev/fd/1", "/dev/fd/2"})


def judge(line: str) -> Script:
    """Reads a line for a shell. Raises nothing, whatever the line."""
    found = Found()
    problem = None
    try:
        if os.name == "nt":
            raise Unjudged("the shells of this system are not known here")
        check_text(line)
        Reader(line, found, 0).commands("")
    except Unjudged as reason:
        problem = str(reason)
    return _script(found, problem)


def judge_words(argv: Sequence[str]) -> Script:
    """Reads a command that is started without a shell: its words are literal, and may still name a shell."""
    found = Found()
    problem = None
    try:
        if not argv:
            raise Unjudged("there is no command")
        for word in argv:
            check_text(word.replace("\n", " "))
        Reader("", found, 0).simple(Simple(tuple(Word(word, True, word) for word in argv)))
    except Unjudged as reason:
        problem = str(reason)
    return _script(found, problem)


def _script(found: Found, problem: str | None) -> Script:
    if problem is None and any(not path.startswith(("/", "~")) for path in (*found.writes, *found.reads)):
        names = {simple.words[0].text for simple in found.commands if simple.words}
        if names & SHELL_CHANGERS:
            problem = "it changes the folder, and then opens a file by a relative path"
    return Script(tuple(found.commands), tuple(found.writes), tuple(found.reads), tuple(found.suspects), problem)


class Reader(Wrappers, Words):
    """Reads lists of commands."""

    def inner(self, text: str) -> None:
        Reader(text, self.found, self.depth + 1).commands("")

    def commands(self, closer: str) -> None:
        """Reads commands up to the closing parenthesis, or to the end of the text when there is none."""
        command = _Command()
        waiting: list[tuple[str, bool, bool]] = []  # here-documents: the last line, whether tabs go, whether it is raw
        while True:
            self._blanks()
            char = self.peek()
            if char in ("", ")"):
                if char != closer:
                    raise Unjudged("a ( is never closed" if closer else "a ) closes nothing")
                if waiting:
                    raise Unjudged("a here-document has no text")
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
                    raise Unjudged("a broken line stands between a here-document and its text")
                if self.at and self.text[self.at - 1] not in " \t\n":
                    raise Unjudged("a word or sign is broken over two lines")
                self.at += 2
            else:
                return

    def _process(self, command: _Command) -> None:
        if self.at == self.word_end or self.text[self.at - 1 : self.at].isdigit():
            raise Unjudged("a process substitution is glued to a word")
        command.words.append(self.word())

    def _operator(self) -> None:
        if self.peek(2) in (";;", ";&", ";|"):
            raise Unjudged("it has a ;; outside of what is read here")
        self.at += 2 if self.peek(2) in ("&&", "||", "|&") else 1

    def _comment(self, command: _Command) -> None:
        comment = _HARMLESS_COMMENT.match(self.text, self.at)
        if comment is None or not command.is_fresh:
            raise Unjudged("it has a comment that a shell may take for commands")
        self.at = comment.end()

    def _subshell(self, command: _Command) -> None:
        if not command.is_fresh:
            raise Unjudged("a ( follows a word: a function, a list or a pattern")
        if self.peek(2) == "((":
            raise Unjudged("it calculates, or nests subshells without a space")
        self.at += 1
        self._substitution()
        command.closed = True

    def _word(self, command: _Command) -> None:
        word = self.word()
        plain = word.literal and word.source == word.text
        if command.is_fresh and plain:
            if word.text in _GO_ON:
                return
            if word.text in _CLOSE:
                command.closed = True
                return
            if word.text in _NOT_READ:
                raise Unjudged(f"{word.text!r} is not read here")
            if word.text == "for":
                self._for()
                return
        if plain and word.text in ("{", "}"):
            raise Unjudged(f"a {word.text} stands where shells do not read it alike")
        if command.closed:
            raise Unjudged(f"{word.text[:40]!r} follows the end of a group")
        if not command.words and _ASSIGNMENT.match(word.source):
            command.assignments.append(word)
        elif not command.words and _SUBSCRIPTED.match(word.source) and "=" in word.source:
            raise Unjudged("it sets a variable with a subscript, which the shell calculates")
        else:
            command.words.append(word)

    def _for(self) -> None:
        """The head of a loop: `for NAME in WORDS;`, up to the separator."""
        self._blanks()
        name = self.word()
        self._blanks()
        if not name.literal or not name.source.isidentifier() or not name.source.isascii():
            raise Unjudged("a loop without a name")
        if self.peek() not in (";", "\n"):
            if self.word().source != "in":
                raise Unjudged("a loop that is not read here")
            while True:
                self._blanks()
                if self.peek() in (";", "\n") or self.peek(2) in ("<(", ">("):
                    break
                if not self.word().source:
                    raise Unjudged("a loop that is not read here")
        if self.heredocs or self.peek() not in (";", "\n") or self.peek(2) in (";;", ";&", ";|"):
            raise Unjudged("a loop that is not read here")
        self.at += 1

    def _redirect(self, command: _Command, operator: str, waiting: list[tuple[str, bool, bool]]) -> None:
        self.at += len(operator)
        self._blanks()
        command.redirected = True
        if operator in ("<<", "<<-"):
            delimiter = self.word()
            if not delimiter.literal or not delimiter.text or "\n" in delimiter.text:
                raise Unjudged("a here-document whose end is not certain")
            waiting.append((delimiter.text, operator == "<<-", delimiter.source != delimiter.text))
            self.heredocs += 1
            return
        target = self.word()
        if not target.source:
            raise Unjudged(f"{operator} is followed by nothing")
        if operator == "<<<":
            return
        if operator in (">&", "<&") and target.source[0] in "-0123456789":
            if not re.fullmatch(r"-|[0-9]+-?", target.source):
                raise Unjudged(f"{operator} is followed by what shells do not read alike")
            return
        if operator == "&>" or operator == "&>>":
            command.closed = True  # for some shells a new command begins after it
        if operator == "<" and target.source.startswith("<(") and target.source.endswith(")"):
            return
        if operator == ">&" and target.source != target.text:
            raise Unjudged(">& with a name in quotes is not read alike everywhere")
        path = target.text
        if not target.literal and not _HOME.fullmatch(target.source):
            raise Unjudged("it opens a file whose name only the shell will know")
        if target.literal and path.startswith("~"):
            path = f"./{path}"  # a name in quotes, and no home
        if path.startswith(("/dev/tcp/", "/dev/udp/")) or operator == "<&":
            raise Unjudged("it opens a connection, or a descriptor by name")
        if path not in _NOWHERE:
            (self.found.reads if operator == "<" else self.found.writes).append(path)

    def _bodies(self, waiting: list[tuple[str, bool, bool]]) -> None:
        """The texts of the here-documents that were announced on the line that has just ended."""
        if self.heredocs > len(waiting):
            raise Unjudged("a line ends inside another's here-document")
        for delimiter, tabs, raw in waiting:
            while True:
                if self.at >= len(self.text):
                    raise Unjudged("a here-document is never closed")
                end = self.text.find("\n", self.at)
                line = self.text[self.at : end if end >= 0 else len(self.text)]
                self.at = end + 1 if end >= 0 else len(self.text)
                bare = line.lstrip("\t") if tabs else line
                if bare == delimiter:
                    break
                if line.lstrip().startswith(delimiter):
                    raise Unjudged("a line of a here-document looks like its end")
                if not raw and any(char in line for char in "$`\\"):
                    raise Unjudged("a here-document that the shell expands")
        self.heredocs -= len(waiting)
        waiting.clear()

    def _finish(self, command: _Command) -> None:
        if command.words or command.assignments:
            self.simple(Simple(tuple(command.words), tuple(command.assignments)))


class _Command:
    """A command that is being read."""

    def __init__(self) -> None:
        self.words: list[Word] = []
        self.assignments: list[Word] = []
        self.redirected = False
        self.closed = False

    @property
    def is_fresh(self) -> bool:
        """Whether nothing of it has been read: only here are reserved words reserved."""
        return not (self.words or self.assignments or self.redirected or self.closed)
