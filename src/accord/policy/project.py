"""What the user and the project configured, as programs want it: settings, and the policy made of their rules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from accord.config.settings import Loaded, has_project_file, load
from accord.errors import RuleError

if TYPE_CHECKING:
    from accord.policy.engine import Policy
    from accord.policy.rule import Rule
    from accord.policy.settings import Permissions


def configuration(cwd: Path) -> Loaded:
    """Both files. Whether the folder is trusted matters, and is looked up, only when it has a file of its own."""
    trusted = False
    if has_project_file(cwd):
        from accord.policy.trust import Trust

        trusted = Trust().trusts(cwd)
    return load(cwd, trusted=trusted)


def policy(
    loaded: Loaded,
    cwd: Path,
    agent: str,
    flags: Sequence[Rule] = (),
    audit: Any = None,
    *,
    directories: Sequence[str] = (),
) -> Policy:
    """The policy of a project: the options of this run, what was remembered, the project's rules, the user's.

    What lies in other `directories` of the session may be read like the project itself."""
    from accord.config.settings import PROJECT_FILE, user_config
    from accord.policy.engine import BUILT_IN, Policy
    from accord.policy.glob import literal
    from accord.policy.memory import Memory
    from accord.policy.rule import Rule
    from accord.policy.trust import Trust

    folders = [literal(folder.rstrip("/")) for folder in directories]
    theirs = [Rule(effect="allow", path=(folder, f"{folder}/**"), access="read") for folder in folders]
    user = _permissions(loaded.user_rules, user_config())
    project = _permissions(loaded.project_rules, cwd / PROJECT_FILE)
    return Policy(
        cwd,
        flags=flags,
        remembered=Memory(),
        user=user.rules,
        project_rules=project.rules,
        built_in=[*BUILT_IN, *theirs],
        trusted=loaded.trusted,
        default="deny" if "deny" in (user.default, project.default) else "ask",
        protected=[str(Trust().path), str(user_config())],
        audit=audit,
        agent=agent,
    )


def _permissions(table: dict[str, Any], path: Path) -> Permissions:
    """The rules of one file. A fault is told with its line, for which the file is read once more."""
    from accord.policy.settings import permissions

    try:
        return permissions(table, where=str(path))
    except RuleError as fault:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError):
            raise fault from None
        return permissions(table, where=str(path), text=text)
