"""Protected files, which need approval even if rules allow them: an agent could use them to change its own rules, or to
have another program run its code.

A file belongs here if another program executes it, or reads commands or instructions from it, without the user naming
it: when opening a directory in an editor, starting another agent, or on `cd`, `git commit` and a push. Files that the
user runs by name (`make`, the project's own code, its tests) don't belong here: agents change them all the time, and a
question that is always answered with yes protects nothing."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress

from accord.config.directories import data_directory
from accord.errors import ConfigError
from accord.policy.executed_files import find_executed
from accord.policy.patterns import glob
from accord.policy.rule import Access, Rule, validate_rule

PROTECTED = (
    # Accord itself
    "**/accord.toml",
    "**/.accord/**",
    "~/.config/accord/**",
    # git: hooks, filters, and a configuration that names programs
    "**/.git/**",
    "**/.gitattributes",
    "**/.gitmodules",
    "**/.gitconfig",
    "**/.githooks/**",
    "~/.config/git/**",
    "~/.gitconfig",
    # hook managers
    "**/.husky/**",
    "**/.lefthook/**",
    "**/lefthook.yml",
    "**/lefthook.yaml",
    "**/lefthook.toml",
    "**/.lefthook.yml",
    "**/.lefthook.yaml",
    "**/.lefthook.toml",
    "**/.pre-commit-config.yaml",
    "**/.overcommit.yml",
    "**/.git-hooks/**",
    # environments that shells and task runners load by themselves
    "**/.env",
    "**/.env.*",
    "**/.envrc",
    "**/mise.toml",
    "**/.mise.toml",
    "**/.mise/**",
    "**/mise.local.toml",
    "**/.direnv/**",
    "**/flake.nix",
    "**/shell.nix",
    "**/devenv.nix",
    # package managers that run what these name
    "**/.npmrc",
    "**/.pnpmfile.cjs",
    "**/.pnpmfile.mjs",
    "**/.yarnrc",
    "**/.yarnrc.yml",
    "**/.yarn/**",
    "**/bunfig.toml",
    "**/.cargo/**",
    "**/.mvn/**",
    "**/.bazelrc",
    "**/.bundle/**",
    "**/sitecustomize.py",
    "**/usercustomize.py",
    "**/.pdbrc",
    "**/.pryrc",
    "**/.irbrc",
    "**/.iex.exs",
    "**/.ghci",
    "**/.Rprofile",
    "**/.Renviron",
    "**/.gdbinit",
    "**/.lldbinit",
    "~/.npmrc",
    "~/.config/pip/**",
    # editors
    "**/.vscode/**",
    "**/*.code-workspace",
    "**/.idea/**",
    "**/.zed/**",
    "**/.helix/**",
    "**/.vs/**",
    "**/.fleet/**",
    "**/.gitpod.yml",
    "**/.idx/**",
    "**/.devcontainer/**",
    "**/.devcontainer.json",
    "**/.exrc",
    "**/.nvimrc",
    "**/.nvim.lua",
    "**/.vimrc",
    "**/.lvimrc",
    "**/.vim/**",
    "**/.nvim/**",
    "**/.dir-locals.el",
    "**/.dir-locals-2.el",
    "~/.vim/**",
    "~/.config/nvim/**",
    "~/.config/zed/**",
    "~/.emacs",
    "~/.emacs.d/**",
    # other agents: hooks, servers to start, and instructions
    "**/.mcp.json",
    "**/.claude/**",
    "**/.claude-plugin/**",
    "**/CLAUDE.md",
    "**/CLAUDE.local.md",
    "**/AGENTS.md",
    "**/AGENTS.override.md",
    "**/AGENT.md",
    "**/.agents/**",
    "**/.codex/**",
    "**/.gemini/**",
    "**/GEMINI.md",
    "**/.cursor/**",
    "**/.cursorrules",
    "**/.windsurf/**",
    "**/.windsurfrules",
    "**/.cline/**",
    "**/.clinerules/**",
    "**/.roo/**",
    "**/.roorules",
    "**/.roomodes",
    "**/.kilocode/**",
    "**/.kilocodemodes",
    "**/.continue/**",
    "**/.kiro/**",
    "**/.amazonq/**",
    "**/.augment/**",
    "**/.augment-guidelines",
    "**/.junie/**",
    "**/.trae/**",
    "**/.factory/**",
    "**/.openhands/**",
    "**/.rules",
    "**/.opencode/**",
    "**/opencode.json",
    "**/opencode.jsonc",
    "**/.crush/**",
    "**/crush.json",
    "**/.crush.json",
    "**/CRUSH.md",
    "**/.qwen/**",
    "**/QWEN.md",
    "**/.goosehints",
    "**/.goose/**",
    "**/.aider.conf.yml",
    "**/.github/copilot-instructions.md",
    "**/.github/instructions/**",
    "**/.github/prompts/**",
    "**/.github/agents/**",
    "**/.github/chatmodes/**",
    "**/.github/skills/**",
    "**/.github/hooks/**",
    # continuous integration, which has the project's secrets
    "**/.github/workflows/**",
    "**/.github/actions/**",
    "**/.gitlab-ci.yml",
    "**/.gitlab/ci/**",
    "**/.circleci/**",
    "**/azure-pipelines.yml",
    "**/.azure-pipelines/**",
    "**/bitbucket-pipelines.yml",
    "**/.travis.yml",
    "**/.woodpecker/**",
    "**/.forgejo/**",
    "**/.gitea/**",
    "**/.buildkite/**",
    "**/.semaphore/**",
    "**/.teamcity/**",
    "**/.tekton/**",
    "**/.builds/**",
    "**/.drone.yml",
    "**/.cirrus.yml",
    "**/appveyor.yml",
    "**/.appveyor.yml",
    "**/buildspec.yml",
    "**/cloudbuild.yaml",
    "**/Jenkinsfile",
    # shells, sessions and logins
    "~/.bashrc",
    "~/.bash_profile",
    "~/.bash_login",
    "~/.bash_logout",
    "~/.bash_aliases",
    "~/.profile",
    "~/.zshrc",
    "~/.zshenv",
    "~/.zprofile",
    "~/.zlogin",
    "~/.zlogout",
    "~/.kshrc",
    "~/.cshrc",
    "~/.tcshrc",
    "~/.login",
    "~/.inputrc",
    "~/.tmux.conf",
    "~/.config/tmux/**",
    "~/.xprofile",
    "~/.xinitrc",
    "~/.xsessionrc",
    "~/.config/environment.d/**",
    "~/.config/direnv/**",
    "~/.config/mise/**",
    "~/.config/fish/**",
    "~/.config/autostart/**",
    "~/.config/systemd/**",
    "~/.local/bin/**",
    "~/bin/**",
    "~/.ssh/**",
    "~/Library/LaunchAgents/**",
)

INSTALLED = ("**/node_modules/.bin/**", "**/.venv/**", "**/venv/**", "**/pyvenv.cfg", "**/HEAD")
"""Installed programs, and the files that make a directory a bare repository. Writing them needs approval, but commands
may name them: to run a program, or as a revision in `git diff HEAD`."""

_READERS = frozenset(
    [
        ".",
        "[",
        "basename",
        "cat",
        "cd",
        "cmp",
        "diff",
        "dirname",
        "du",
        "echo",
        "egrep",
        "fgrep",
        "grep",
        "head",
        "ls",
        "md5sum",
        "nl",
        "printf",
        "pwd",
        "readlink",
        "realpath",
        "rg",
        "sha1sum",
        "sha256sum",
        "source",
        "stat",
        "tail",
        "test",
        "wc",
    ]
)
"""Commands that never write to the files they name."""
_READING_GIT = frozenset(["add", "blame", "commit", "diff", "grep", "log", "ls-files", "show", "status"])
_NAMES = {
    name: re.compile(rf"(?<![a-z0-9_)\]]){re.escape(name)}(?![a-z0-9_])")
    for name in dict.fromkeys(
        text.removesuffix("/**").removeprefix("**/").removeprefix("~/").casefold()
        for text in PROTECTED
        if "*" not in text.removeprefix("**/").removesuffix("/**")
    )
}


def protection_rules(own: Iterable[str] = ()) -> list[Rule]:
    """Return the rules that ask about protected files. `own` are the policy's own files, such as its audit log."""
    # The star covers their locks and rotated logs.
    patterns = [*PROTECTED, *(f"{glob.escape(path)}*" for path in own)]
    return [_ask_rule(text) for text in patterns]


SECRETS = (
    *("~/.ssh/**", "~/.gnupg/**", "~/.aws/**", "~/.azure/**", "~/.kube/**", "~/.password-store/**", "~/.mozilla/**"),
    *("~/.config/gcloud/**", "~/.config/gh/**", "~/.config/accord/**", "~/.config/google-chrome/**"),
    *("~/.config/chromium/**", "~/.docker/config.json", "~/.netrc", "~/.git-credentials", "~/.config/git/credentials"),
    *("~/.npmrc", "~/.pypirc", "~/.cargo/credentials*", "~/.local/share/keyrings/**", "~/Library/Keychains/**"),
    *("~/.claude/**", "~/.codex/**", "~/.gemini/**", "/etc/shadow", "/etc/gshadow", "/etc/sudoers"),
)
"""Files with keys and passwords: reading them is asked about each time."""
PROCESS_SECRETS = ("/proc/**/environ", "/proc/**/mem")
"""The environment and memory of processes, ours among them. Reading them is asked about, too."""
OWN_SECRETS = ("keys", "remote", "serve")
"""Subdirectories of Accord's data directory with keys and tokens. Reading them needs approval too."""


def secret_rules() -> list[Rule]:
    """Return the rules that ask about reading keys and passwords."""
    texts = [*SECRETS, *PROCESS_SECRETS]
    with suppress(ConfigError):  # without a home directory, nothing is saved
        texts += (glob.escape(os.path.realpath(data_directory() / name)) + "/**" for name in OWN_SECRETS)
    return [_ask_rule(text, "read") for text in texts]


def installed_program_rules(project: str) -> list[Rule]:
    """Return the rules that ask about writing installed programs and hooks, but not about commands that name them."""
    places = [f"{glob.escape(path)}/**" for path in find_executed(project)]
    return [_ask_rule(text) for text in (*INSTALLED, *places)]


@functools.lru_cache(
    maxsize=512
)  # each session has a policy; creating these rules took a third of the time to open one
def _ask_rule(text: str, access: Access = "write") -> Rule:
    return validate_rule(Rule(effect="ask", path=(text,), access=access))


def only_reads(words: tuple[str, ...]) -> bool:
    """Return whether a command is known not to write to the files that it names."""
    match words:
        case ("git", subcommand, *rest):
            return subcommand in _READING_GIT and not any(word.startswith("--o") for word in rest)  # --output
        case (program, *_):
            return program in _READERS
    return False


def find_virtual_environment(path: str, exists: Callable[[str], bool] = os.path.lexists) -> str | None:
    """Return the Python virtual environment that contains a path, regardless of its name."""
    directory = os.path.dirname(path)
    while directory != os.path.dirname(directory):
        if exists(os.path.join(directory, "pyvenv.cfg")):
            return directory
        directory = os.path.dirname(directory)
    return None


def is_repository(directory: str, exists: Callable[[str], bool] = os.path.lexists) -> bool:
    """Return whether Git treats a directory as a repository (not as its working tree), and uses its configuration."""
    names = ("HEAD", "commondir"), ("HEAD", "objects", "refs")
    return any(all(exists(os.path.join(directory, name)) for name in each) for each in names)


def find_repository(path: str, exists: Callable[[str], bool] = os.path.lexists) -> str | None:
    """Return the bare repository that contains a path, unless the path is in a working tree inside it."""
    directory = os.path.dirname(path)
    while directory != os.path.dirname(directory) and not exists(os.path.join(directory, ".git")):
        if is_repository(directory, exists):
            return directory
        directory = os.path.dirname(directory)
    return None


def find_protected_name(text: str) -> str | None:
    """Return a protected file that a text mentions anywhere, for command lines that can't be parsed."""
    folded = text.casefold()
    return next((name for name, pattern in _NAMES.items() if pattern.search(folded)), None)
