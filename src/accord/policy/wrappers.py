"""Commands that run other commands: `env`, `sudo`, `xargs`, `sh -c`, `find -exec` and their kin.

The command inside is found and judged by itself. Of a wrapper that adds nothing (`nice`, `time`) only the inside
counts; one that adds something (`sudo` adds rights, `find` a search) counts too, so that both need to be allowed.
Options that are not known here could mean anything: then the line cannot be judged."""

from __future__ import annotations

import re
from typing import NamedTuple

from accord.policy.script import MAX_DEPTH, PLAIN_NAME, Found, Simple, Unjudged, Word


class Wrapper(NamedTuple):
    """How to find the command in a wrapper's words."""

    flags: str = ""
    """Short options that stand alone."""
    valued: str = ""
    """Short options with a value, in the same word or the next."""
    long: frozenset[str] = frozenset()
    """Long options; one with a value has it after a `=`."""
    skip: int = 0
    """How many words come before the command."""
    counts: bool = False
    """Whether the wrapper itself needs to be allowed as well."""
    assigns: bool = False
    """Whether `NAME=value` may stand before the command."""
    extended: bool = False
    """Whether words that are not known here are added at the end."""


def _long(names: str) -> frozenset[str]:
    return frozenset(names.split())


WRAPPERS = {
    "builtin": Wrapper(),
    "chronic": Wrapper(),
    "command": Wrapper(flags="p"),
    "doas": Wrapper(flags="n", valued="u", counts=True, assigns=True),
    "env": Wrapper(flags="i", valued="u", long=_long("--ignore-environment --unset"), assigns=True),
    "exec": Wrapper(),
    "ionice": Wrapper(flags="t", valued="cn"),
    "nice": Wrapper(valued="n", long=_long("--adjustment")),
    "nocorrect": Wrapper(),
    "noglob": Wrapper(),
    "nohup": Wrapper(),
    "setsid": Wrapper(flags="cfw", long=_long("--ctty --fork --wait")),
    "stdbuf": Wrapper(valued="ioe", long=_long("--input --output --error")),
    "sudo": Wrapper(
        flags="AbEHknPS",
        valued="CgpTu",
        long=_long("--non-interactive --preserve-env --set-home --user --group"),
        counts=True,
        assigns=True,
    ),
    "time": Wrapper(flags="p"),
    "timeout": Wrapper(
        flags="v", valued="ks", long=_long("--foreground --preserve-status --kill-after --signal --verbose"), skip=1
    ),
    "xargs": Wrapper(
        flags="0rtxp",
        valued="adELnPs",
        long=_long("--null --no-run-if-empty --max-args --max-procs --max-lines --delimiter --arg-file"),
        counts=True,
        extended=True,
    ),
}
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash"})
OTHER_SHELLS = frozenset({"fish", "csh", "tcsh", "pwsh", "powershell", "nu", "elvish", "xonsh", "rc", "es"})
"""Shells with a grammar of their own."""
SHELL_CHANGERS = frozenset({"cd", "pushd", "popd", "chdir", ".", "source"})
"""What changes, or may change, where relative paths lead."""
REWRITERS = _long(
    "alias autoload bind bindkey compdef compctl compgen complete coproc disable emulate enable fc functions hash jobs "
    "let mapfile readarray sched trap unalias unhash unfunction zle zmodload zstyle"
)
"""What changes the meaning of later words, or runs code that is not seen as a command."""
CALCULATORS = _long("declare export float integer local printf read readonly test typeset unset wait [")
"""What reads subscripts in its words, and so runs what is in them."""
RUNNERS = _long(
    "at batch busybox chroot entr fd flock gdb ltrace npx nsenter nix-shell parallel perf pkexec rlwrap runuser screen "
    "script ssh strace su systemd-run tmux toybox unshare uvx valgrind watch xvfb-run"
)
"""What may run some of its words as commands. Too many ways to allow by; enough to deny by."""
SECOND_RUNNERS = _long("bundle docker kubectl npm pipx pnpm podman poetry uv yarn")
"""The same, after a word that says to."""
_SHELL_FLAGS = re.compile(r"-[celuxi]+")
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_SYSTEM_FOLDERS = ("", "/bin/", "/usr/bin/")


class Wrappers:
    """Takes simple commands, and looks into those that hide others."""

    found: Found
    depth: int

    def inner(self, text: str) -> None:
        raise NotImplementedError

    def simple(self, command: Simple) -> None:
        """Notes a command and whatever commands are in it."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unjudged("commands are nested too deeply")
        try:
            self._look_into(command)
        finally:
            self.depth -= 1

    def _look_into(self, command: Simple) -> None:
        words = command.words
        if not words:
            self.found.note(command)
            return
        if not words[0].literal:
            self.found.note(command)
            raise Unjudged("it builds the name of a command")
        full = words[0].text
        name = full.rpartition("/")[2]
        wrapper = WRAPPERS.get(name)
        if name in REWRITERS or name in OTHER_SHELLS:
            self.found.note(command)
            raise Unjudged(f"{name!r} is not read here: it can run, or change, anything")
        if name == "eval":
            self._eval(command)
        elif name in SHELLS:
            self._shell(command)
        elif name == "find":
            self._find(command)
        elif wrapper is not None:
            self._wrapped(command, name, wrapper)
        else:
            self.found.note(command)
            if name in CALCULATORS:
                _check_calculation(name, words)
        if name in RUNNERS or name in SECOND_RUNNERS:
            self._suspect(command, 1 if name in RUNNERS else 2)
        # A wrapper from another folder than the system's may be any program: then the whole counts as well.
        if full.removesuffix(name) not in _SYSTEM_FOLDERS and command not in self.found.commands:
            self.found.note(command)

    def _wrapped(self, command: Simple, name: str, wrapper: Wrapper) -> None:
        words = command.words
        if name == "command" and len(words) > 1 and words[1].text in ("-v", "-V"):
            self.found.note(command)  # only looks it up
            return
        at = _after_options(name, wrapper, words)
        at += wrapper.skip
        assignments = list(command.assignments)
        while wrapper.assigns and at < len(words) and re.match(r"[A-Za-z_][A-Za-z0-9_]*=", words[at].text):
            assignments.append(words[at])
            at += 1
        if wrapper.assigns and at < len(words) and "=" in words[at].text:
            self.found.note(command)
            raise Unjudged(f"{name} is given a variable with an odd name")
        inside = words[at:]
        if not all(word.literal for word in words[:at]):
            # One that becomes two words, or none, would make another word the command.
            self.found.note(command)
            raise Unjudged(f"{name} has words before its command that only the shell will know")
        if wrapper.counts or not inside:
            self.found.note(command)
        if inside:
            more = (Word("…", False, "…"),) if wrapper.extended else ()
            self.simple(Simple((*inside, *more), tuple(assignments)))

    def _eval(self, command: Simple) -> None:
        words = command.words[1:]
        if words and words[0].text == "--":
            words = words[1:]
        if not all(word.literal for word in words):
            self.found.note(command)
            raise Unjudged("eval runs what only the shell will know")
        if command.assignments:
            self.found.note(Simple((), command.assignments))
        self.inner(" ".join(word.text for word in words))

    def _shell(self, command: Simple) -> None:
        """`sh -c TEXT` runs the text; `sh FILE` is a command like others; anything else runs what it is fed."""
        words = command.words
        at = 1
        runs = False
        while at < len(words) and words[at].literal and words[at].text.startswith(("-", "+")):
            option = words[at].text
            if not _SHELL_FLAGS.fullmatch(option) and option not in ("--login", "-o", "-eo", "-euo", "-exo", "-euxo"):
                self.found.note(command)
                raise Unjudged(f"the option {option[:40]!r} of a shell is not known here")
            runs = runs or ("c" in option and option != "--login")
            if option.endswith("o"):
                at += 1
                if at >= len(words) or words[at].text != "pipefail":
                    raise Unjudged("a shell is given an option that is not known here")
            at += 1
        if at >= len(words):
            self.found.note(command)
            raise Unjudged("a shell that runs whatever it is fed")
        if not runs:
            self.found.note(command)
            if not words[at].literal:
                raise Unjudged("a shell runs a file whose name only the shell will know")
            return
        if not words[at].literal:
            self.found.note(command)
            raise Unjudged("a shell runs what only another shell will know")
        if command.assignments:
            self.found.note(Simple((), command.assignments))
        self.inner(words[at].text)

    def _find(self, command: Simple) -> None:
        self.found.note(command)
        words = list(command.words)
        if any(not word.literal and re.search(r"^-|[$`(]", word.source) for word in words):
            raise Unjudged("find is given words that only the shell will know, and it can run commands")
        for start, word in enumerate(words):
            if word.text not in _FIND_RUNS:
                continue
            inside: list[Word] = []
            for following in words[start + 1 :]:
                if following.literal and following.text in (";", "+"):
                    break
                inside.append(Word(following.text, following.literal and "{}" not in following.text, following.source))
            else:
                raise Unjudged(f"{word.text} has no end")
            if not inside:
                raise Unjudged(f"{word.text} has no command")
            self.simple(Simple(tuple(inside), command.assignments))

    def _suspect(self, command: Simple, first: int) -> None:
        """Everything among a runner's words that may be a command."""
        words = command.words[:64]
        for start in range(first, len(words)):
            if PLAIN_NAME.fullmatch(words[start].text):
                self.found.suspects.append(Simple(words[start:]))
            elif words[start].literal and " " in words[start].text:
                self._suspect_text(words[start].text)

    def _suspect_text(self, text: str) -> None:
        aside = type(self.found)()
        mine, self.found = self.found, aside
        try:
            self.inner(text)
        except Unjudged:
            pass
        finally:
            self.found = mine
        mine.suspects += aside.commands + aside.suspects


def _after_options(name: str, wrapper: Wrapper, words: tuple[Word, ...]) -> int:
    """Where a wrapper's own options end."""
    at = 1
    while at < len(words) and (text := words[at].text).startswith("-") and len(text) > 1:
        if not words[at].literal:
            raise Unjudged(f"{name} has an option that only the shell will know")
        at += 1
        if text == "--":
            return at
        if text.startswith("--"):
            if text.partition("=")[0] not in wrapper.long:
                raise Unjudged(f"the option {text[:40]!r} of {name} is not known here")
            # Without its value in the same word, who can tell whether the next word is the value?
            if "=" not in text and text in ("--user", "--group", "--unset", "--signal", "--kill-after", "--adjustment"):
                at += 1
            continue
        if name == "nice" and text[1:].isdigit():
            continue
        for place, letter in enumerate(text[1:], 1):
            if letter in wrapper.valued:
                at += place == len(text) - 1
                break
            if letter not in wrapper.flags:
                raise Unjudged(f"the option {text[:40]!r} of {name} is not known here")
    if name == "env" and at < len(words) and words[at].text == "-":
        at += 1
    return at


def _check_calculation(name: str, words: tuple[Word, ...]) -> None:
    for word in words[1:]:
        if "[" in word.text and word.text != "[" and ("$" in word.text or "`" in word.text):
            raise Unjudged(f"{name} is given a subscript, which the shell calculates")
        if word.text == "-v" and name in ("test", "[", "printf"):
            raise Unjudged(f"{name} -v calculates a name")
