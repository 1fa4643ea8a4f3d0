"""show_changes: the changes since the last commit.

Git runs programs that a repository configures: hooks, filters, a file system monitor, a pager, an external diff.
Looking at a project must not run its code, so each of them is turned off."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, ToolContext, ToolError
from accord.coder.tools.project.paths import Found, allowed_paths, locate, origin, relative
from accord.coder.tools.project.program import run_program
from accord.coder.tools.text import code_block, count_of, truncate
from accord.model.record import Record
from accord.model.tool import Location
from accord.policy.action import Action
from accord.process.programs import find_program

TIMEOUT_SECONDS = 30.0
MAX_OUTPUT_BYTES = 4_000_000
MAX_FILES = 200
MAX_CHECKED = 2_000
"""With more changed files there is no diff, because the rules must be checked for each file."""

_SETTINGS = {
    "safe.bareRepository": "explicit",
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
    "GIT_ALLOW_PROTOCOL": "none",  # keeps older versions of Git from fetching the missing objects of a partial clone
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


class ShowChangesArgs(Record):
    """The path."""

    path: Annotated[str | None, Meta(description="A file or directory; defaults to the whole project.")] = None


class ShowChanges(Tool[ShowChangesArgs]):
    name = "show_changes"
    description = (
        "Shows what has changed in the working tree since the last commit, staged or not: Git's short status and the "
        "diff, truncated if long. Untracked files are only named. Requires a Git repository. For history (log, blame) "
        "use run_command."
    )
    kind: str = "read"
    arguments = ShowChangesArgs
    aliases = "git_diff git_status diff_changes get_changed_files"

    def title(self, args: ShowChangesArgs) -> str:
        return f"Show changes in {args.path}" if args.path else "Show changes"

    def locations(self, args: ShowChangesArgs) -> Sequence[Location]:
        return [Location(path=args.path)] if args.path else []

    def actions(self, args: ShowChangesArgs, ctx: ToolContext) -> Sequence[Action]:
        return [Action.of_read(ctx.session.absolute(args.path or "."), **origin(ctx))]

    async def run(self, args: ShowChangesArgs, ctx: ToolContext) -> Outcome:
        found = await locate(ctx, args.path or ".")
        git = Git(found, ctx.session.roots, ctx.state.secrets.environment)
        await git.prepare()
        status = await git.lines("status", "--porcelain=v1", "-z", "--branch", "--untracked-files=all", only=True)
        branch, changed = _parse(status)
        tracked = [change for change in changed if change.code != "??"]
        checked = [*tracked[:MAX_CHECKED], *[change for change in changed if change.code == "??"][:MAX_FILES]]
        allowed = await allowed_paths(ctx, [git.absolute(change.path) for change in checked])
        visible = [change for change in checked if git.absolute(change.path) in allowed]
        hidden = [change.path for change in checked if change not in visible]
        lines = [f"On {branch}."]
        if not changed:
            lines.append("Nothing has changed since the last commit.")
        lines += [f"{change.code} {relative(ctx, git.absolute(change.path))}" for change in visible[:MAX_FILES]]
        more = len(changed) - len(hidden) - min(len(visible), MAX_FILES)
        if more:
            lines.append(f"[and {count_of(more, 'more file')}]")
        if hidden:
            lines.append(f"[{count_of(len(hidden), 'file')} omitted: protected by the user's rules]")
        diff = ""
        is_changing = any(each.is_sandboxed for each in (ctx.state.parent or ctx.state).background.running)
        if is_changing:
            # The command can replace a file with a link while Git reads it. Nobody has allowed that command.
            lines.append("[no diff while a sandboxed command runs in the background; stop it, or run git diff]")
        elif len(tracked) > MAX_CHECKED:
            lines.append("[too many files have changed for a diff; ask for one path at a time]")
        elif any(change.code != "??" for change in visible):
            diff = await git.diff(hidden)
        shown = truncate(diff)
        if diff:
            lines += ["", shown.text.rstrip("\n")]
            if not shown.is_complete:
                lines.append("[the diff is longer; ask for one path at a time]")
            await ctx.call.show(code_block(diff, "diff"))
        else:
            await ctx.call.show(code_block("\n".join(lines)))
        raw = {
            "branch": branch,
            "files": [
                {
                    "status": change.code.strip(),
                    "path": git.absolute(change.path),
                    "name": relative(ctx, git.absolute(change.path)),
                }
                for change in visible[:MAX_FILES]
            ],
            "diff": shown.text,
            "complete": shown.is_complete and not more and not is_changing and len(tracked) <= MAX_CHECKED,
        }
        return Outcome(text="\n".join(lines), raw=raw)


class Changed(NamedTuple):
    """A changed file."""

    code: str
    """Git's two-letter status."""
    path: str
    """Relative to the top of the repository."""


class Git:
    """Runs Git in one repository, safely."""

    def __init__(self, found: Found, roots: Sequence[str], environment: Mapping[str, str]) -> None:
        """`roots` are the session's directories, where a program named `git` isn't Git."""
        self._found = found
        self._program = find_program("git", outside=roots)
        self._environment = environment
        self._path = found.real or found.path
        directory = self._path
        while not os.path.isdir(directory) and len(directory) > len(found.root_real):  # a file, or deleted
            directory = os.path.dirname(directory)
        self._directory = self._top = directory
        self._only = "."
        self._settings = dict(_SETTINGS)

    def absolute(self, path: str) -> str:
        """Return the absolute form of a path that Git printed, below the session's own spelling of its root."""
        return self._found.below_root(os.path.join(self._top, path))

    async def prepare(self) -> None:
        """Find the repository, and turn off the filters it configures."""
        (top,) = await self.lines("rev-parse", "--show-toplevel")
        self._top = top.rstrip("\n")
        # A repository can name any directory as its working tree, whose files Git would print.
        if not _contains(self._top, self._directory):
            raise ToolError("this repository's working tree (core.worktree) is another directory; nothing was read")
        root = self._found.root_real
        self._directory = self._top if self._top.startswith(root.rstrip(os.sep) + os.sep) else root
        self._only = self._path[len(self._directory) :].strip(os.sep) or "."
        for line in await self.lines("config", "--null", "--get-regexp", r"^filter\.", fails=True):
            name = line.partition("\n")[0].rpartition(".")[0]
            self._settings |= {f"{name}.{word}": "" for word in ("clean", "smudge", "process")}
            self._settings[f"{name}.required"] = "false"

    async def diff(self, hidden: Sequence[str]) -> str:
        """Return the diff against the last commit, without the hidden files."""
        excluded = [f":(exclude,top,literal){path}" for path in hidden]
        against = "HEAD" if await self.lines("rev-parse", "--verify", "--quiet", "HEAD", fails=True) else "--cached"
        return "\n".join(await self.lines(*_DIFF, against, only=True, excluded=excluded, split="\n"))

    async def lines(
        self, *words: str, only: bool = False, fails: bool = False, excluded: Sequence[str] = (), split: str = "\0"
    ) -> list[str]:
        """Run Git and split its output. `only` limits it to the requested path; `fails` accepts exit status 1."""
        if self._program is None:
            raise ToolError("Git isn't installed")
        argv = [self._program, "--no-pager", "--no-replace-objects", *words]
        argv += ["--", f":(literal){self._only}", *excluded] if only else []
        pieces: list[bytes] = []
        size = 0

        def take(line: bytes) -> bool:
            nonlocal size
            pieces.append(line)
            size += len(line)
            return size < MAX_OUTPUT_BYTES

        # Passed in the environment, where a setting's name can contain any character.
        ours = {name: value for name, value in self._environment.items() if not name.startswith("GIT_")}
        environment = ours | _ENVIRONMENT
        environment["GIT_CONFIG_COUNT"] = str(len(self._settings))
        for index, (name, value) in enumerate(self._settings.items()):
            environment |= {f"GIT_CONFIG_KEY_{index}": name, f"GIT_CONFIG_VALUE_{index}": value}
        done = await run_program(
            argv, take, cwd=self._directory, env=environment, seconds=TIMEOUT_SECONDS, is_limited=True
        )
        if done.timed_out:
            raise ToolError(f"git {words[0]} took longer than {TIMEOUT_SECONDS:g} s and was stopped")
        if done.status not in (0, None, 1 if fails else 0):
            complaint = done.stderr.strip()
            if "not a git repository" in complaint:
                raise ToolError("this is not a Git repository, so there is nothing to compare with")
            raise ToolError(f"git {words[0]} failed: {complaint[-500:]}")
        text = b"\n".join(pieces).decode(errors="replace")
        return [piece for piece in text.split(split) if piece or split == "\n"]


def _contains(top: str, directory: str) -> bool:
    """Return whether a directory is the top of a working tree, or inside it."""
    return any(os.path.samefile(top, each) for each in (Path(directory), *Path(directory).parents))


def _parse(status: Sequence[str]) -> tuple[str, list[Changed]]:
    """Return the branch and the changed files, from `git status`."""
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
