"""What the user and the project configured, as programs want it: settings, and the policy made of their rules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from accord.config.settings import Loaded, has_project_file, load

if TYPE_CHECKING:
    from accord.policy.engine import Policy
    from accord.policy.rule import Rule


def configuration(cwd: Path) -> Loaded:
    """Both files. Whether the folder is trusted matters, and is looked up, only when it has a file of its own."""
    trusted = False
    if has_project_file(cwd):
        from accord.policy.trust import Trust

        trusted = Trust().trusts(cwd)
    return load(cwd, trusted=trusted)


def policy(loaded: Loaded, cwd: Path, agent: str, flags: Sequence[Rule] = (), audit: Any = None) -> Policy:
    """The policy of a project: the options of this run, what was remembered, the project's rules, the user's."""
    from accord.config.settings import PROJECT_FILE, user_config
    from accord.policy.engine import Policy
    from accord.policy.memory import Memory
    from accord.policy.settings import permissions
    from accord.policy.trust import Trust

    user = permissions(loaded.user_rules, where=str(user_config()))
    project = permissions(loaded.project_rules, where=str(cwd / PROJECT_FILE))
    return Policy(
        cwd,
        flags=flags,
        remembered=Memory(),
        user=user.rules,
        project_rules=project.rules,
        trusted=loaded.trusted,
        default="deny" if "deny" in (user.default, project.default) else "ask",
        protected=[str(Trust().path), str(user_config())],
        audit=audit,
        agent=agent,
    )
