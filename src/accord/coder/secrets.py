"""Hide the user's keys from commands, and redact provider keys in everything the agent sends and stores."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from accord.coder.tools.text import protecting
from accord.config.redaction import count_held, redact_known
from accord.model.statement import SetCommands, SetOptions, SetState, SetUsage, Statement

if TYPE_CHECKING:
    from accord.coder.credentials import Keys
    from accord.config.settings import CoderSettings

_NO_TEXT = (SetOptions, SetCommands, SetState, SetUsage)
_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSW(?:OR)?D|PASSPHRASE|CREDENTIAL|COOKIE|BEARER|WEBHOOK|(?:^|_)(?:PAT|PASS|AUTH|CREDS?|DSN)$|_PWD$",
    re.IGNORECASE,
)
_NO_SECRET = re.compile(r"GIT_CONFIG_KEY_[0-9]+|.*KEY(?:BOARD|MAP).*", re.IGNORECASE)
"""Names that look like a secret's. Without its keys, Git rejects the settings in `GIT_CONFIG_COUNT`."""


class Secrets:
    """The provider keys of one session, and the variables of the environment that look like other secrets."""

    def __init__(self, keys: Keys, settings: CoderSettings) -> None:
        self._keys = keys
        self._variables = keys.variables(settings)
        self._passed = frozenset(settings.pass_environment)
        self._settings = settings
        self._values: set[str] = set()
        self._computed_from: Mapping[str, str] | None = None
        """The keyring content that `_values` was computed from."""

    @property
    def environment(self) -> dict[str, str]:
        """This process's environment without the keys."""
        return {name: value for name, value in os.environ.items() if not self._hides(name)}

    @property
    def blanks(self) -> dict[str, str]:
        """The key variables with empty values, for the client's terminals, which probably have the same environment."""
        return {name: "" for name in sorted(os.environ) if os.environ[name] and self._hides(name)}

    def _hides(self, name: str) -> bool:
        if name in self._variables:
            return True
        if name in self._passed or _NO_SECRET.fullmatch(name):
            return False
        return _SECRET_NAME.search(name) is not None

    def redact(self, value: Any) -> Any:
        """Mask the keys in all text of a value."""
        return redact_known(value, self._known)

    def count_held(self, text: str | bytes) -> int:
        """Return the length of the end of a text that could be the start of a key."""
        if isinstance(text, str):
            return count_held(text, self._known)
        return count_held(text, [value.encode() for value in self._known])

    def count_cut(self, text: str) -> int:
        """Return the length of the start of a text that could be the end of a key."""
        return count_held(text[::-1], [value[::-1] for value in self._known])

    def protect_cuts(self) -> AbstractContextManager[None]:
        """Leave no part of a key where text is cut inside the context."""
        return protecting(self.count_held, self.count_cut)

    @property
    def _known(self) -> set[str]:
        if self._computed_from is not self._keys.from_keyring:
            self._values, self._computed_from = self._keys.values(self._settings), self._keys.from_keyring
        return self._values

    def redact_statement(self, statement: Statement) -> Statement:
        """Redact a statement before it is sent or stored."""
        if isinstance(statement, _NO_TEXT):
            return statement
        redacted: Statement = self.redact(statement)
        return redacted
