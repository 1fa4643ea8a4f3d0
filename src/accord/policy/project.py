"""Load the configuration of a project, and build its policy.

The imports inside functions keep `load_configuration` fast: it runs at the start of every command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from accord.config.settings import Loaded, has_project_file, load
from accord.errors import RuleError

if TYPE_CHECKING:
    from accord.policy.engine import Policy
    from accord.policy.rule import Rule
    from accord.policy.sources import Permissions


MAX_UNTRUSTED_RULES = 500
"""The most rules of a project that isn't trusted. Each decision compares all of them, for each file in a search."""


def load_configuration(cwd: Path) -> Loaded:
    """Load the user's and the project's file. Trust is checked only if the project has a file."""
    trusted = False
    if has_project_file(cwd):
        from accord.policy.trust import Trust

        trusted = Trust().trusts(cwd)
    return load(cwd, trusted=trusted)


def build_policy(
    loaded: Loaded,
    cwd: Path,
    agent: str,
    flags: Sequence[Rule] = (),
    audit: Any = None,
    *,
    directories: Sequence[str] = (),
) -> Policy:
    """Build the policy of a project from command-line options, remembered rules, and both configuration files.

    Files in the other `directories` of the session may be read like those of the project."""
    from accord.config.settings import PROJECT_FILE, user_config
    from accord.policy.engine import BUILT_IN, Policy
    from accord.policy.patterns.glob import escape
    from accord.policy.remembered_rules import RememberedRules
    from accord.policy.rule import Rule
    from accord.policy.trust import Trust

    patterns = [escape(directory.rstrip("/")) for directory in directories]
    theirs = [Rule(effect="allow", path=(pattern, f"{pattern}/**"), access="read") for pattern in patterns]
    user = _permissions(loaded.user_rules, user_config())
    project = _permissions(loaded.project_rules, cwd / PROJECT_FILE)
    if len(project.rules) > MAX_UNTRUSTED_RULES and not loaded.trusted:
        raise RuleError(
            f"{cwd / PROJECT_FILE}: more than {MAX_UNTRUSTED_RULES} rules; if you wrote them, run: accord trust {cwd}"
        )
    return Policy(
        cwd,
        flags=flags,
        remembered=RememberedRules(),
        user=user.rules,
        project_rules=project.rules,
        built_in=[*BUILT_IN, *theirs],
        reading_commands=True,
        trusted=loaded.trusted,
        default="deny" if "deny" in (user.default, project.default) else "ask",
        protected=[str(Trust().path), str(user_config())],
        audit=audit,
        agent=agent,
    )


def _permissions(table: dict[str, Any], path: Path) -> Permissions:
    """Parse the rules of one file. On an error, parse again with the text of the file, to report the line."""
    from accord.policy.sources import parse_permissions

    try:
        return parse_permissions(table, where=str(path))
    except RuleError as error:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError):
            raise error from None
        return parse_permissions(table, where=str(path), text=text)
