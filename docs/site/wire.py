"""Write the overview of `accord.v1` and `accord.v2`: their methods, and the names of their types."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

from accord import v1, v2

ABOUT = """# accord.v{0}

The types and methods of protocol version {0}, exactly as the schema defines them. [Typed access to the
protocol](../wire.md) is the guide. On the wire, fields are camel case.

```python
from accord import v{0}
```
"""


def pages() -> Iterator[tuple[str, str]]:
    for number, module in ((1, v1), (2, v2)):
        parts = [ABOUT.format(number), *methods(module), *types(module)]
        yield f"v{number}.md", "\n".join(parts)


def methods(module: ModuleType) -> Iterator[str]:
    for title, name in (("Methods of agents", "AgentConnection"), ("Methods of clients", "ClientConnection")):
        connection = getattr(module, name)
        yield f"## {title}\n\n`v1.{name}` calls them.\n".replace("v1", module.__name__.rpartition(".")[2])
        yield "| method | parameters | result |\n|---|---|---|"
        for method, function in vars(connection).items():
            if method.startswith("_") or not callable(function):
                continue
            hints = function.__annotations__
            result = hints.get("return", "")
            yield f"| `{method}` | `{short(hints.get('params', ''))}` | {result_of(result)} |"
        yield ""


def short(hint: Any) -> str:
    return str(hint).removeprefix("schema.")


def result_of(hint: str) -> str:
    if "Coroutine" not in hint:
        return "none: a notification"
    return f"`{short(hint.removeprefix('Coroutine[').rstrip(']').rpartition(', ')[2])}`"


def types(module: ModuleType) -> Iterator[str]:
    """Yield a table of the types by topic: the module of the schema that defines them."""
    topics: dict[str, list[str]] = {}
    for name in sorted(vars(module.schema)):
        value = getattr(module.schema, name)
        if isinstance(value, type) and value.__module__.startswith("accord.schema.") and not name.startswith("_"):
            topics.setdefault(value.__module__.rpartition(".")[2], []).append(name)
    yield "## Types\n\n| topic | types |\n|---|---|"
    for topic, names in sorted(topics.items()):
        yield f"| {topic.replace('_', ' ')} | {', '.join(f'`{name}`' for name in names)} |"
    yield ""
