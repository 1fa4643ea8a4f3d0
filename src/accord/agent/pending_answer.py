"""The answer to a permission request or a form that has yet to be awaited."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from accord.errors import UsageError

T = TypeVar("T")


class PendingAnswer(Coroutine[Any, Any, T]):
    """A coroutine of `permit` or `ask`, which can't be mistaken for the answer.

    A coroutine is always true, so that `if turn.permit(…)` without `await` would go ahead without permission."""

    __slots__ = ("_call", "_coroutine", "_kind")

    def __init__(self, coroutine: Coroutine[Any, Any, T], kind: type[T], call: str) -> None:
        self._coroutine = coroutine
        self._kind = kind
        self._call = call

    def __await__(self) -> Generator[Any, Any, T]:
        return self._coroutine.__await__()

    def send(self, value: Any) -> Any:
        return self._coroutine.send(value)

    def throw(self, *error: Any) -> Any:
        return self._coroutine.throw(*error)

    def close(self) -> None:
        self._coroutine.close()

    if not TYPE_CHECKING:  # type checkers report these mistakes themselves

        def __bool__(self) -> NoReturn:
            self._refuse()

        def __getattr__(self, name: str) -> NoReturn:
            if name in dir(self._kind):  # an attribute of the answer
                self._refuse()
            raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")

        def _refuse(self) -> NoReturn:
            self.close()  # else Python warns about it, too
            raise UsageError(f"the user hasn't been asked yet; write “answer = await {self._call}(…)”")
