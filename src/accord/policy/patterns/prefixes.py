"""The prefix of a command that a user can allow as a whole: `pytest -k x` → `pytest *`, `npm run lint -- a` →
`npm run lint *`.

A prefix has as many words as name one task. There is none for programs that can do anything: shells, wrappers,
interpreters with code, and programs that delete files or send them elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence

from accord.policy.patterns import commands
from accord.policy.shell.script import SimpleCommand
from accord.policy.shell.wrappers import (
    CALCULATORS,
    OTHER_SHELLS,
    REWRITERS,
    RUNNERS,
    SECOND_RUNNERS,
    SHELL_CHANGERS,
    SHELLS,
    WRAPPERS,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DEPTHS = {
    **dict.fromkeys(_words("cargo dotnet go gradle hatch just make mix mvn nox rake task terraform"), 2),
    **dict.fromkeys(_words("bun deno npm pnpm yarn poetry uv"), 2),
    **dict.fromkeys(["bundle exec", "npm run", "pnpm run", "yarn run", "poetry run", "uv run", "hatch run"], 3),
}
"""How many words name a task, if it isn't one."""
_RUNNERS = frozenset({"exec", "run", "x", "dlx"})
_PYTHON = re.compile(r"python[0-9.]*")
_SCRIPT = re.compile(r"(?!-)[\w./@+-]*\.(?:py|js|mjs|cjs|ts|rb|sh|pl)")
_INTERPRETERS = _words("awk expect gawk lua node osascript perl php ruby ts-node tsx")
_NEVER = _words(
    "chgrp chmod chown cp crontab curl dd docker eval find git halt install kill killall kubectl ln mkfs mount mv nc "
    "ncat passwd pkill podman reboot rm rmdir rsync scp sed set sftp shopt shred shutdown socat systemctl tar tee "
    "telnet truncate umount unlink wget xdg-open"
).union(REWRITERS, CALCULATORS, SHELL_CHANGERS, RUNNERS, SHELLS, OTHER_SHELLS, WRAPPERS)


def prefix_pattern(command: SimpleCommand) -> str | None:
    """Return the pattern that allows a command with any further arguments; None if there is no good one."""
    words = command.words
    if command.assignments or not words:
        return None
    leading = 0
    while leading < len(words) and words[leading].literal:
        leading += 1
    texts = [word.text for word in words[:leading]]
    depth = _depth(texts)
    if depth is None or depth > len(texts) or any("\n" in text for text in texts[:depth]):
        return None
    pattern = f"{commands.exact_pattern(texts[:depth])} *"
    return pattern if commands.covers(pattern, command) else None


def _depth(texts: Sequence[str]) -> int | None:
    """Return how many words name the task."""
    match texts:
        case [program, "-m", module, *_] if _PYTHON.fullmatch(program) and re.fullmatch(r"[\w.]+", module):
            return 3
        case [program, script, *_] if _PYTHON.fullmatch(program) or program in _INTERPRETERS:
            return 2 if _SCRIPT.fullmatch(script) else None
        case [program, *rest]:
            name = program.rpartition("/")[2]
            if name in _NEVER or name in _INTERPRETERS or _PYTHON.fullmatch(name):
                return None
            depth = _DEPTHS.get(" ".join([name, *rest[:1]]), _DEPTHS.get(name, 1))
            if name in SECOND_RUNNERS and (depth == 1 or (rest[:1] and rest[0] in _RUNNERS and depth == 2)):
                return None
            # An option in the prefix would allow whatever it is given later: `git -C`, `make -f`.
            if any(word.startswith("-") for word in rest[: depth - 1]):
                return None
            if depth == 3 and rest[1:2] and _depth(rest[1:]) is None:
                return None  # uv run rm
            return depth
    return None
