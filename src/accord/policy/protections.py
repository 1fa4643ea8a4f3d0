"""What is always asked, whatever is allowed: files by which an agent could change its own rules, or leave code behind
for somebody else to run."""

from __future__ import annotations

from collections.abc import Iterable

from accord.policy import glob
from accord.policy.rule import Rule, checked

PROTECTED = (
    "**/accord.toml",
    "**/.accord/**",
    "**/.git/**",  # hooks, and a configuration that names programs
    "**/.husky/**",
    "**/.envrc",
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
    "~/.config/fish/**",
    "~/.config/accord/**",
    "~/.config/autostart/**",
    "~/.config/systemd/**",
    "~/.config/git/**",
    "~/.gitconfig",
    "~/.ssh/**",
    "~/Library/LaunchAgents/**",
)

_NAMES = tuple(
    dict.fromkeys(text.removesuffix("/**").removeprefix("**/").removeprefix("~/").casefold() for text in PROTECTED)
)


def protections(own: Iterable[str] = ()) -> list[Rule]:
    """The rules that ask. `own` are files and folders of the policy itself: what it remembers, trusts and logs."""
    patterns = [*PROTECTED, *(glob.literal(path) + "*" for path in own)]  # and what stands beside them: locks, old logs
    return [checked(Rule(effect="ask", path=(text,), access="write")) for text in patterns]


def names_protected(text: str) -> str | None:
    """The protected file that a text mentions anywhere, for command lines that cannot be taken apart."""
    folded = text.casefold()
    return next((name for name in _NAMES if name in folded), None)
