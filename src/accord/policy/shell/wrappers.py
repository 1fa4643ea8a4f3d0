"""Commands that run other commands: `env`, `sudo`, `xargs`, `sh -c`, `find -exec` and similar.

The inner command is extracted and checked on its own. A wrapper that adds nothing (`nice`, `time`) is ignored; one that
adds something (`sudo` adds privileges, `find` a search) must be allowed as well. An unknown option of a wrapper could
have any effect, in which case the line can't be analyzed."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from accord.policy.shell.script import MAX_DEPTH, PLAIN_NAME, Found, NotAnalyzable, SimpleCommand, Word


class Wrapper(NamedTuple):
    """Describes where the inner command is in a wrapper's words."""

    flags: str = ""
    """Short options without a value."""
    valued: str = ""
    """Short options with a value, in the same word or the next."""
    long: frozenset[str] = frozenset()
    """Long options; one with a value has it after a `=`."""
    skip: int = 0
    """Number of words before the command."""
    counts: bool = False
    """Whether the wrapper itself needs to be allowed as well."""
    assigns: bool = False
    """Whether `NAME=value` may come before the command."""
    extended: bool = False
    """Whether unknown words are appended at run time."""


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
    "nocorrect": Wrapper(assigns=True),
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
    "time": Wrapper(flags="p", assigns=True),
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
"""Shells with a different grammar."""
SHELL_CHANGERS = frozenset({"cd", "pushd", "popd", "chdir", ".", "source"})
"""Commands that may change the directory that relative paths refer to."""
REWRITERS = _long(
    "alias autoload bind bindkey compdef compctl compgen complete coproc disable emulate enable fc functions hash jobs "
    "let mapfile readarray sched trap unalias unhash unfunction zle zmodload zstyle"
)
"""Builtins that change the meaning of later words, or run code that isn't visible as a command."""
CALCULATORS = _long("declare export float integer local printf read readonly test typeset unset wait [")
"""Builtins that evaluate subscripts in their words, and so run substitutions in them."""
RUNNERS = _long(
    "at batch busybox bwrap caffeinate chroot chrt dbus-run-session entr fakeroot faketime fd firejail flock gdb "
    "hyperfine ltrace nix-shell npx nsenter numactl parallel perf pkexec prlimit proot rlwrap runuser screen script "
    "setarch setpriv ssh start-stop-daemon strace su systemd-run taskset tmux toybox unbuffer unshare uvx valgrind "
    "watch xvfb-run"
)
"""Programs that may run some of their words as commands: too varied to allow the inner command, but possible to
deny."""
SECOND_RUNNERS = _long(
    "bun bundle conda direnv docker hatch kubectl mise npm pipenv pipx pixi pnpm podman poetry uv yarn"
)
"""The same, after a subcommand such as `run` or `exec`."""
_SHELL_FLAGS = re.compile(r"-[celuxi]+")
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_SYSTEM_DIRECTORIES = ("", "/bin/", "/usr/bin/")


class CommandCollector:
    """Records simple commands, and examines those that run other commands."""

    def __init__(self, found: Found, parse: Callable[[str, Found, int], None]) -> None:
        self._found = found
        self._parse = parse
        """Parses a text at some depth, and records its commands in a `Found`."""

    def add(self, command: SimpleCommand, depth: int) -> None:
        """Record a command and the commands inside it."""
        if depth >= MAX_DEPTH:
            raise NotAnalyzable("commands are nested too deeply")
        self._examine(command, depth + 1)

    def _examine(self, command: SimpleCommand, depth: int) -> None:
        words = command.words
        if not words:
            self._found.record(command)
            return
        if not words[0].literal:
            self._found.record(command)
            raise NotAnalyzable("it computes the name of a command")
        full = words[0].text
        name = full.rpartition("/")[2]
        wrapper = WRAPPERS.get(name)
        if name in REWRITERS or name in OTHER_SHELLS:
            self._found.record(command)
            raise NotAnalyzable(f"{name!r} isn't supported: it can run or change anything")
        if name == "eval":
            self._eval(command, depth)
        elif name in SHELLS:
            self._shell(command, depth)
        elif name == "find":
            self._find(command, depth)
        elif wrapper is not None:
            self._unwrap(command, name, wrapper, depth)
        else:
            self._found.record(command)
            if name in CALCULATORS:
                _check_calculation(name, words)
        if name in RUNNERS or name in SECOND_RUNNERS:
            self._suspect(command, 1 if name in RUNNERS else 2, depth)
        # A wrapper outside the system directories may be any program, so the whole command must be allowed as well.
        if full.removesuffix(name) not in _SYSTEM_DIRECTORIES and command not in self._found.commands:
            self._found.record(command)

    def _unwrap(self, command: SimpleCommand, name: str, wrapper: Wrapper, depth: int) -> None:
        words = command.words
        if name == "command" and len(words) > 1 and words[1].text in ("-v", "-V"):
            self._found.record(command)  # only looks up the command
            return
        at = _after_options(name, wrapper, words)
        at += wrapper.skip
        assignments = list(command.assignments)
        while wrapper.assigns and at < len(words) and re.match(r"[A-Za-z_][A-Za-z0-9_]*=", words[at].text):
            assignments.append(words[at])
            at += 1
        if wrapper.assigns and at < len(words) and "=" in words[at].text:
            self._found.record(command)
            raise NotAnalyzable(f"{name} sets a variable with an unusual name")
        inside = words[at:]
        if not all(word.literal for word in words[:at]):
            # A word that expands to two words, or to none, would make another word the command.
            self._found.record(command)
            raise NotAnalyzable(f"{name} has words before its command that only the shell knows")
        if wrapper.counts or not inside:
            self._found.record(command)
        if inside:
            more = (Word("…", False, "…"),) if wrapper.extended else ()
            self.add(SimpleCommand((*inside, *more), tuple(assignments)), depth)

    def _eval(self, command: SimpleCommand, depth: int) -> None:
        words = command.words[1:]
        if words and words[0].text == "--":
            words = words[1:]
        if not all(word.literal for word in words):
            self._found.record(command)
            raise NotAnalyzable("eval runs text that only the shell knows")
        if command.assignments:
            self._found.record(SimpleCommand((), command.assignments))
        self._parse(" ".join(word.text for word in words), self._found, depth + 1)

    def _shell(self, command: SimpleCommand, depth: int) -> None:
        """Examine a shell: `sh -c TEXT` runs the text, `sh FILE` is an ordinary command, any other runs its standard
        input."""
        words = command.words
        at = 1
        runs = False
        while at < len(words) and words[at].literal and words[at].text.startswith(("-", "+")):
            option = words[at].text
            if not _SHELL_FLAGS.fullmatch(option) and option not in ("--login", "-o", "-eo", "-euo", "-exo", "-euxo"):
                self._found.record(command)
                raise NotAnalyzable(f"the option {option[:40]!r} of a shell isn't supported")
            runs = runs or ("c" in option and option != "--login")
            if option.endswith("o"):
                at += 1
                if at >= len(words) or words[at].text != "pipefail":
                    raise NotAnalyzable("a shell has an option that isn't supported")
            at += 1
        if at >= len(words):
            self._found.record(command)
            raise NotAnalyzable("a shell runs its standard input")
        if not runs:
            self._found.record(command)
            if not words[at].literal:
                raise NotAnalyzable("a shell runs a file whose name only the shell knows")
            return
        if not words[at].literal:
            self._found.record(command)
            raise NotAnalyzable("a shell runs text that only another shell knows")
        if command.assignments:
            self._found.record(SimpleCommand((), command.assignments))
        self._parse(words[at].text, self._found, depth + 1)

    def _find(self, command: SimpleCommand, depth: int) -> None:
        self._found.record(command)
        words = list(command.words)
        if any(not word.literal and re.search(r"^-|[$`(]", word.source) for word in words):
            raise NotAnalyzable("find can run commands, and has words that only the shell knows")
        for start, word in enumerate(words):
            if word.text not in _FIND_RUNS:
                continue
            inside: list[Word] = []
            for following in words[start + 1 :]:
                if following.literal and following.text in (";", "+"):
                    break
                inside.append(Word(following.text, following.literal and "{}" not in following.text, following.source))
            else:
                raise NotAnalyzable(f"{word.text} has no end")
            if not inside:
                raise NotAnalyzable(f"{word.text} has no command")
            self.add(SimpleCommand(tuple(inside), command.assignments), depth)

    def _suspect(self, command: SimpleCommand, first: int, depth: int) -> None:
        """Record all words of a runner that may start a command."""
        words = command.words[:64]
        for start in range(first, len(words)):
            if PLAIN_NAME.fullmatch(words[start].text):
                self._found.suspects.append(SimpleCommand(words[start:]))
            elif words[start].literal and " " in words[start].text:
                self._suspect_text(words[start].text, depth)

    def _suspect_text(self, text: str, depth: int) -> None:
        found = Found()
        with suppress(NotAnalyzable):
            self._parse(text, found, depth + 1)
        self._found.suspects += found.commands + found.suspects


def _after_options(name: str, wrapper: Wrapper, words: tuple[Word, ...]) -> int:
    """Return the index after a wrapper's own options."""
    at = 1
    while at < len(words) and (text := words[at].text).startswith("-") and len(text) > 1:
        if not words[at].literal:
            raise NotAnalyzable(f"{name} has an option that only the shell knows")
        at += 1
        if text == "--":
            return at
        if text.startswith("--"):
            if text.partition("=")[0] not in wrapper.long:
                raise NotAnalyzable(f"the option {text[:40]!r} of {name} isn't supported")
            # These options take a value; if it isn't in the same word, it is the next one.
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
                raise NotAnalyzable(f"the option {text[:40]!r} of {name} isn't supported")
    if name == "env" and at < len(words) and words[at].text == "-":
        at += 1
    return at


def _check_calculation(name: str, words: tuple[Word, ...]) -> None:
    for word in words[1:]:
        if "[" in word.text and word.text != "[" and ("$" in word.text or "`" in word.text):
            raise NotAnalyzable(f"{name} has a subscript, which the shell evaluates")
        if word.text == "-v" and name in ("test", "[", "printf"):
            raise NotAnalyzable(f"{name} -v evaluates a name")
