"""What is raised about rules and the files that hold them."""

from __future__ import annotations

from accord.errors import AccordError


class RuleError(AccordError):
    """A permission rule, or a file of them, cannot be read. Says where, what was found, and what was expected."""

    def __init__(self, message: str, *, where: str = "", line: int | None = None, key: str = "") -> None:
        self.message = message
        self.where = where
        """The file or the option it stands in."""
        self.line = line
        self.key = key
        """Which part of a rule is at fault."""
        place = f"{where}:{line}: " if where and line else f"{where}: " if where else f"line {line}: " if line else ""
        super().__init__(place + message)

    def at(self, where: str, line: int | None = None) -> RuleError:
        """The same fault, told with its place."""
        return RuleError(self.message, where=where, line=line, key=self.key)
