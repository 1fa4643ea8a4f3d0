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
    **dict.fromkeys(_words("bun deno npm pnpm yarn poetry uv pdm pipenv pixi rye"), 2),
    **dict.fromkeys(["bundle exec", "npm run", "pnpm run", "yarn run", "poetry run", "uv run", "hatch run"], 3),
    **dict.fromkeys(["pdm run", "pipenv run", "pixi run", "rye run", "uv pip", "bun run", "deno run", "go run"], 3),
    **dict.fromkeys(_words("aws az gcloud gh glab"), 3),
    **dict.fromkeys(
        _words(
            "black eslint flake8 isort jest mocha mypy nosetests phpunit prettier pylint pyright pytest rspec ruff "
            "shellcheck tox tsc vitest"
        ),
        1,
    ),
}
"""How many words name a task. For other programs these are two if the second looks like a subcommand."""
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9:_-]*")
_RUNNERS = frozenset({"exec", "run", "x", "dlx", "shell", "tool", "api"})
_ANY_CODE = _words("console dbshell eval exec repl runner shell tinker")
"""Subcommands that run any code or program, whichever program has them: `flask shell`, `stack exec`."""
_TASK_RUNNERS = SECOND_RUNNERS | _words("bun gh glab hatch pdm pipenv pixi rye")
_PYTHON = re.compile(r"(?:b|i|micro|pt)?python[0-9.]*|pypy[0-9.]*|graalpy|py")
_SCRIPT = re.compile(r"(?!-)[\w./@+-]*\.(?:py|js|mjs|cjs|ts|rb|sh|pl)")
_INTERPRETERS = _words(
    "R Rscript awk clojure dc elixir erl expect gawk ghci gnuplot groovy guile iex irb java jshell julia kotlin lua m4 "
    "node octave osascript perl php pry racket ruby runghc sbcl scala swipl tclsh ts-node tsx"
)
_NEVER = _words(
    "chgrp chmod chown cp crontab curl dd docker eval find git halt install kill killall kubectl ln mkfs mount mv nc "
    "ncat passwd pkill podman reboot rm rmdir rsync scp sed set sftp shopt shred shutdown socat systemctl tar tee "
    "telnet truncate umount unlink wget xdg-open "
    # Programs that run others, and clients that run the commands they are given.
    "ansible apptainer asdf buildah bwrap chrt cmd concurrently conda corepack cross-env dbus-launch dbus-run-session "
    "direnv doppler dotenv dotenvx faketime fakeroot firejail flatpak fnm ftp git-shell gpg guix hyperfine ld.so lerna "
    "lxc mail mamba micromamba mise multipass mysql nix nmap nodemon npm-run-all numactl nvm nx op prlimit proxychains "
    "psql redis-cli rush rustup sendmail setarch singularity snap split ssh-agent sshpass taskset torsocks turbo "
    "unbuffer vagrant virsh volta watchexec wsl yt-dlp "
    "bpftrace caffeinate capsh cmake forever heroku newgrp pm2 sandbox-exec sg stap start-stop-daemon systemd-inhibit "
    "tcpdump zellij "
    # Modules of Python that run any code.
    "IPython bdb cProfile code idlelib pdb profile runpy timeit trace"
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
    """Return the number of words that name the task."""
    match texts:
        case [program, "-m", module, *rest] if _PYTHON.fullmatch(program) and re.fullmatch(r"[\w.]+", module):
            depth = _depth([module, *rest])
            return None if depth is None else 2 + depth
        case [program, "manage.py", *rest] if _PYTHON.fullmatch(program):
            depth = _depth(["manage.py", *rest])
            return None if depth is None else 1 + depth
        case [program, script, *_] if _PYTHON.fullmatch(program) or program in _INTERPRETERS:
            return 2 if _SCRIPT.fullmatch(script) else None
        case ["coverage", "run", *rest]:  # a second interpreter
            depth = _depth(["python", *rest])
            return None if depth is None else 1 + depth
        case [program, *rest]:
            name = program.rpartition("/")[2]
            if name in _NEVER or name in _INTERPRETERS or _PYTHON.fullmatch(name) or name.startswith("ld-"):
                return None
            has_subcommand = bool(rest) and _SUBCOMMAND.fullmatch(rest[0]) is not None
            usual = _DEPTHS.get(name, 2 if has_subcommand else 1)
            depth = _DEPTHS.get(" ".join([name, *rest[:1]]), usual)
            is_known = " ".join([name, *rest[:1]]) in _DEPTHS
            if has_subcommand and rest[0] in _ANY_CODE and not is_known:
                return None
            if name in _TASK_RUNNERS and (depth == 1 or (rest[:1] and rest[0] in _RUNNERS and not is_known)):
                return None
            # An option in the prefix would allow any later value: `git -C`, `make -f`.
            if any(word.startswith("-") for word in rest[: depth - 1]):
                return None
            if depth == 3 and rest[1:2] and _depth(rest[1:]) is None:
                return None  # uv run rm
            return depth
    return None
