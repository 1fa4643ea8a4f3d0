"""Instruction files: AGENTS.md of the user, of the repository, and of the directories that the agent works in.

The user's file, those of the session's additional directories, and those from the repository's root down to the
working directory are part of the system prompt. A nested one is delivered with the result of the first tool call that
touches its directory.

A repository is untrusted. A file is read only inside the repository or the session's directories, whatever links lead
there. A link may lead only to another instruction file, and no rule may protect it: otherwise a link to `.env` would
reveal that without permission. Directories above the working directory must have the same owner, so that no other user
of the machine can plant a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from accord.coder.history import replace_surrogates
from accord.coder.tools.text import cut, one_line
from accord.errors import AccordError
from accord.model.record import Record
from accord.policy.action import Action
from accord.process.thread import run_in_thread

if TYPE_CHECKING:
    from accord.coder.session import CoderSession
    from accord.workspace.files import Files

NAMES = (
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    "QWEN.md",
    ".cursorrules",
    ".windsurfrules",
    ".goosehints",
    os.path.join(".github", "copilot-instructions.md"),
)
"""The first of these that a directory has is used. The policy protects all of them."""
_BASENAMES = frozenset(os.path.basename(name) for name in NAMES)
USER_FILE = "AGENTS.md"
"""The user's own file, in the directory of `config.toml`."""
MAX_CHARACTERS = 24_000
"""The most that is quoted of one file."""
MAX_TOTAL_CHARACTERS = 48_000
"""The most that is quoted of all files together, in the system prompt or in the result of a call."""
HEADING = "# Instructions of the user and the project: follow them"
RANKED = "If the files of two directories contradict each other, the one that is quoted later wins."
MAX_DEPTH = 40
MAX_PATH = 300


class InstructionFile(Record):
    """An instruction file."""

    path: str
    text: str


def quote(files: Sequence[InstructionFile], *, are_ranked: bool = False) -> str:
    """Quote files for the model, each with its path. Later ones are more important and lose nothing to others.

    `are_ranked` adds a note about this order: the paths of separate directories don't show it."""
    room = MAX_TOTAL_CHARACTERS
    quoted: list[str] = []
    for each in reversed(files):
        limit = min(room, MAX_CHARACTERS)
        text = cut(each.text, limit)
        room -= len(text)
        end = "" if len(text) == len(each.text) else "\n[truncated; read the file for the rest]"
        quoted.append(f'<instructions path="{one_line(each.path, MAX_PATH)}">\n{text.strip()}{end}\n</instructions>')
    if not quoted:
        return ""
    heading = [HEADING, RANKED] if are_ranked else [HEADING]
    return "\n\n".join([*heading, *reversed(quoted)])


async def collect(state: CoderSession) -> list[InstructionFile]:
    """Return the files of the system prompt, the least important first.

    These are the user's, those of the additional directories, and those from the repository's root to the working
    directory. Of two directories of a session, the protocol lets the earlier one win."""
    session = state.session
    others = [await _read_first(state, state.files.disk, each) for each in reversed(session.additional_directories)]
    own = await _read_first(state, state.files.disk, session.cwd)
    found = [each for each in (_read_users(), *others, *await _collect_above(state), own) if each is not None]
    last = {each.path: index for index, each in enumerate(found)}  # an additional directory may contain the other
    return [each for index, each in enumerate(found) if last[each.path] == index]


class NestedInstructions:
    """Delivers each nested instruction file of a session once."""

    def __init__(self, state: CoderSession) -> None:
        self._state = state
        self.delivered: set[str] = set()
        """The paths of the files that the model has seen."""
        self._checked: set[str] = set()
        self._found: list[InstructionFile] = []

    def forget(self) -> None:
        """Deliver the files again, after a summary has replaced them."""
        self.delivered.clear()
        self._checked.clear()
        if self._state.system_prompt is not None:
            self.delivered.update(self._state.system_prompt.delivered)

    def take(self) -> str:
        """Return the collected files as text for the model; empty if there are none."""
        found, self._found = self._found, []
        text: str = replace_surrogates(self._state.secrets.redact(quote(found)))
        return text

    async def collect(self, paths: Sequence[str]) -> None:
        """Collect the files of the directories that lead to these paths, if the model hasn't seen them."""
        for path in paths:
            for directory in self._directories(self._state.session.absolute(path)):
                if directory in self._checked:
                    continue
                self._checked.add(directory)  # before waiting: calls run concurrently
                file = await _read_first(self._state, self._state.files.disk, directory)
                if file is not None and file.path not in self.delivered:
                    self.delivered.add(file.path)
                    self._found.append(file)

    def _directories(self, path: str) -> Iterator[str]:
        """Yield the directories from a root of the session to a path, which may be one itself."""
        path = os.path.normpath(path)
        for root in self._state.session.roots:
            inner = os.path.relpath(path, root) if path.startswith(root.rstrip(os.sep) + os.sep) else "."
            if inner == "." and path != os.path.normpath(root):
                continue
            names = inner.split(os.sep) if inner != "." else []
            for count in range(1, min(len(names), MAX_DEPTH) + 1):
                yield os.path.join(root, *names[:count])


def _read_users() -> InstructionFile | None:
    from accord.config.directories import config_directory
    from accord.errors import ConfigError

    try:
        path = config_directory() / USER_FILE
        if not path.is_file():
            return None
        with path.open(encoding="utf-8", errors="replace") as file:
            text = file.read(MAX_CHARACTERS + 1)
    except (ConfigError, OSError):
        return None
    return InstructionFile(path=str(path), text=text) if text.strip() else None


async def _collect_above(state: CoderSession) -> list[InstructionFile]:
    """Return the files of the directories above the working directory, up to the root of its repository."""
    from accord.workspace.files import Files
    from accord.workspace.roots import Roots

    cwd = await run_in_thread(os.path.realpath, state.session.cwd)
    root = await run_in_thread(find_repository, cwd)
    if root is None or root == cwd:
        return []
    try:
        with Roots(root) as roots:
            files = Files(roots)
            above = reversed(list(_parents(cwd, root)))
            found = [await _read_first(state, files, directory) for directory in above]
    except (AccordError, OSError):
        return []
    return [each for each in found if each is not None]


def find_repository(cwd: str) -> str | None:
    """Return the root of the Git repository that contains a directory, links resolved; None if there is none.

    Only looks for `.git`: asking Git would read the repository's configuration."""
    directory = os.path.realpath(cwd)
    try:
        owner = os.stat(directory).st_uid
        for parent in (directory, *_parents(directory, os.path.abspath(os.sep))):
            if os.stat(parent).st_uid != owner:
                return None
            if os.path.lexists(os.path.join(parent, ".git")):
                return parent
    except OSError:
        return None
    return None


def _parents(directory: str, last: str) -> Iterator[str]:
    """Yield the directories above one, up to and including `last`."""
    while directory != last and (above := os.path.dirname(directory)) != directory:
        yield above
        directory = above


async def _read_first(state: CoderSession, files: Files, directory: str) -> InstructionFile | None:
    for name in NAMES:
        path = os.path.join(directory, name)
        try:
            if not await files.exists(path):
                continue
            real = await run_in_thread(os.path.realpath, path)
            if os.path.basename(real) not in _BASENAMES or not may_read(state, real):
                continue
            text = await files.read(path, at=real)
        except (AccordError, OSError):
            continue  # unreadable, binary, or a link to somewhere else: work without it
        if text.strip():
            return InstructionFile(path=path, text=text)
    return None


def may_read(state: CoderSession, path: str) -> bool:
    """Return whether no rule protects a file."""
    session = state.session
    action = Action.of_read(path, agent="accord", session=session.id, project=session.cwd)
    decision = state.policy.decide(action)
    return decision.effect == "allow" or (decision.effect == "ask" and decision.by == "default")
