"""show_changes: what is different from the last commit.

Git runs programs that a repository names: hooks, filters, a file system monitor, a pager, an external diff. A project
that somebody else wrote should not run any of them just because it is looked at, so each is turned off."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, ToolFault, Work
from accord.coder.tools.gathering import gathered
from accord.coder.tools.places import Found, look, relative, who
from accord.coder.tools.telling import tellable
from accord.coder.tools.text import beginning, counted, fenced
from accord.model.noun import Noun
from accord.model.tool import Location
from accord.policy.action import Action

SECONDS = 30.0
MOST_OUTPUT = 4_000_000
MOST_FILES = 200
MOST_JUDGED = 2_000
"""With more changed files than these there is no diff: the rules must be heard about each."""

_SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.pager": "cat",
    "core.quotePath": "false",
    "diff.external": "",
    "diff.ignoreSubmodules": "dirty",
    "status.submoduleSummary": "false",
    "status.relativePaths": "false",
    "submodule.recurse": "false",
    "color.ui": "never",
}
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # so that no older Git fetches what a partial clone lacks either
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_ASKPASS": "",
    "LC_ALL": "C.UTF-8",
}
_DIFF = (
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--ignore-submodules=dirty",
    "--relative",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)


class ShowChangesArgs(Noun):
    """Of what."""

    path: Annotated[str | None, Meta(description="A file or directory; the whole project if left out.")] = None


class ShowChanges(Tool[ShowChangesArgs]):
    name = "show_changes"
    description = (
        "Shows what has changed in the working tree since the last commit, staged or not: Git's short status and the "
        "diff, within bounds; new files that are not tracked are only named. Needs a Git repository. "
        "For the history (log, blame) use run_command."
    )
    kind = "read"
    arguments = ShowChangesArgs

    def title(self, args: ShowChangesArgs) -> str:
        return f"Show changes of {args.path}" if args.path else "Show changes"

    def locations(self, args: ShowChangesArgs) -> Sequence[Location]:
        return [Location(path=args.path)] if args.path else []

    def actions(self, args: ShowChangesArgs, work: Work) -> Sequence[Action]:
        return [Action.of_read(work.session.absolute(args.path or "."), **who(work))]

    async def run(self, args: ShowChangesArgs, work: Work) -> Outcome:
        found = await look(work, args.path or ".")
        git = Git(found)
        await git.prepare()
        status = await git.lines("status", "--porcelain=v1", "-z", "--branch", "--untracked-files=all", only=True)
        branch, changed = _read(status)
        tracked = [change for change in changed if change.code != "??"]
        looked_at = [*tracked[:MOST_JUDGED], *[change for change in changed if change.code == "??"][:MOST_FILES]]
        may = await tellable(work, [git.absolute(change.path) for change in looked_at])
        told = [change for change in looked_at if git.absolute(change.path) in may]
        hidden = [change.path for change in looked_at if change not in told]
        lines = [f"On {branch}."]
        if not changed:
            lines.append("Nothing has changed since the last commit.")
        lines += [f"{change.code} {relative(work, git.absolute(change.path))}" for change in told[:MOST_FILES]]
        more = len(changed) - len(hidden) - min(len(told), MOST_FILES)
        if more:
            lines.append(f"[and {counted(more, 'more file')}]")
        if hidden:
            lines.append(f"[{counted(len(hidden), 'file')} left out: the user's rules protect them]")
        diff = ""
        if len(tracked) > MOST_JUDGED:
            lines.append("[too many files have changed for a diff; ask for one path at a time]")
        elif any(change.code != "??" for change in told):
            diff = await git.diff(hidden)
        if diff:
            cut = beginning(diff)
            lines += ["", cut.text.rstrip("\n")]
            if not cut.is_whole:
                lines.append("[the diff is longer; ask for one path at a time]")
            await work.shown.show(fenced(diff, "diff"))
        else:
            await work.shown.show(fenced("\n".join(lines)))
        raw = {
            "branch": branch,
            "files": [
                {"status": change.code.strip(), "path": git.absolute(change.path)} for change in told[:MOST_FILES]
            ],
        }
        return Outcome(text="\n".join(lines), raw=raw)


class Changed(NamedTuple):
    """A file that is different."""

    code: str
    """Git's two letters."""
    path: str
    """From the top of the repository."""


class Git:
    """One repository, looked at."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._path = found.real or found.path
        folder = self._path
        while not os.path.isdir(folder) and len(folder) > len(found.root_real):  # it may be gone, or be a file
            folder = os.path.dirname(folder)
        self._folder = self._top = folder
        self._only = "."
        self._settings = dict(_SETTINGS)

    def absolute(self, path: str) -> str:
        """A path of Git's, spelled as the session spells it."""
        return self._found.named(os.path.join(self._top, path))

    async def prepare(self) -> None:
        """Finds the repository, and turns off the filters that it names."""
        (top,) = await self.lines("rev-parse", "--show-toplevel")
        self._top = top.rstrip("\n")
        root = self._found.root_real
        self._folder = self._top if self._top.startswith(root.rstrip(os.sep) + os.sep) else root
        self._only = self._path[len(self._folder) :].strip(os.sep) or "."
        for line in await self.lines("config", "--null", "--get-regexp", r"^filter\.", fails=True):
            name = line.partition("\n")[0].rpartition(".")[0]
            self._settings |= {f"{name}.{word}": "" for word in ("clean", "smudge", "process")}
            self._settings[f"{name}.required"] = "false"

    async def diff(self, hidden: Sequence[str]) -> str:
        """The diff against the last commit, without some files."""
        spared = [f":(exclude,top,literal){path}" for path in hidden]
        against = "HEAD" if await self.lines("rev-parse", "--verify", "--quiet", "HEAD", fails=True) else "--cached"
        return "\n".join(await self.lines(*_DIFF, against, only=True, spared=spared, split="\n"))

    async def lines(
        self, *words: str, only: bool = False, fails: bool = False, spared: Sequence[str] = (), split: str = "\0"
    ) -> list[str]:
        """What Git prints, in pieces. `only` is whether it is about the path that was asked for; `fails`, whether a
        status of 1 is an answer."""
        argv = ["git", "--no-pager", "--no-replace-objects", *words]
        argv += ["--", f":(literal){self._only}", *spared] if only else []
        pieces: list[bytes] = []
        size = 0

        def take(line: bytes) -> bool:
            nonlocal size
            pieces.append(line)
            size += len(line)
            return size < MOST_OUTPUT

        # Settings travel in the environment, where a name can have any character in it.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | _ENVIRONMENT
        environment["GIT_CONFIG_COUNT"] = str(len(self._settings))
        for index, (name, value) in enumerate(self._settings.items()):
            environment |= {f"GIT_CONFIG_KEY_{index}": name, f"GIT_CONFIG_VALUE_{index}": value}
        done = await gathered(argv, take, cwd=self._folder, env=environment, seconds=SECONDS)
        if done.out_of_time:
            raise ToolFault(f"git {words[0]} took longer than {SECONDS:g} s and was ended")
        if done.status not in (0, None, 1 if fails else 0):
            complaint = done.complaint.strip()
            if "not a git repository" in complaint:
                raise ToolFault("this is no Git repository, so there is nothing to compare with")
            raise ToolFault(f"git {words[0]} failed: {complaint[-500:]}")
        text = b"\n".join(pieces).decode(errors="replace")
        return [piece for piece in text.split(split) if piece or split == "\n"]


def _read(status: Sequence[str]) -> tuple[str, list[Changed]]:
    """The branch, and the files."""
    branch = "no branch"
    changed: list[Changed] = []
    pieces = iter(status)
    for piece in pieces:
        if piece.startswith("## "):
            branch = piece[3:]
            if branch.startswith("No commits yet on "):
                branch = f"{branch.removeprefix('No commits yet on ')} (no commits yet)"
            continue
        changed.append(Changed(piece[:2], piece[3:]))
        if piece[0] in "RC":
            next(pieces, None)  # the old name
    return branch, changed
