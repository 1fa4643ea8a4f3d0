"""The cost of a session of 100 requests by published prices, per provider: `make session-cost`.

The session is real: it runs on a local server that speaks the provider's API, which measures the requests it gets.
Tokens are counted as characters / 4. A provider reads from its cache what a request shares with the one before it."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from coder.payloads.sessions import Conversation
from coder.providers.script import Calls, Says, Usage
from coder.providers.server import FakeProvider

import accord
from accord.coder.agent import Coder
from accord.coder.models.snapshot import Price, known_models
from accord.coder.shared_resources import SharedResources
from accord.testing import link

MODELS = {
    "anthropic": "anthropic:claude-sonnet-5-5",
    "responses": "openai:gpt-6.1-sol",
    "google": "google:gemini-3.8-flash",
    "openrouter": "openrouter:anthropic/claude-sonnet-5.5",
}
ANCHORS = {
    "pi": 1_400,
    "goose": 4_800,
    "opencode": 7_700,
    "codex": 9_900,
    "gemini-cli": 12_300,
    "qwen-code": 18_800,
    "kimi-code": 22_000,
}
"""Tokens of tools and system prompt of other agents, measured the same way with the same prompt."""
REQUESTS = 100
OUTPUT_TOKENS = 300
"""Output of each request, which is the same before and after."""
TURNS_BEFORE_COMPACTION = 12
ARCHITECT_TURN = 6
FORMER_PREFIX = 3_500


@dataclass(frozen=True)
class Sent:
    """The size of a request in tokens: tools and system prompt, messages, and how much of each is cached."""

    prefix: float
    messages: float
    cached_prefix: float
    cached_messages: float
    situation: str


async def record(wire: str, directory: Path) -> list[Sent]:
    """Run the session, and measure its requests."""
    project = directory / "project"
    project.mkdir()
    (project / "big.py").write_text("".join(f"value_{n} = {n}  # a line of usual length\n" for n in range(20_000)))
    async with FakeProvider() as provider:
        _configure(wire, directory, provider)
        agent = Coder(shared=SharedResources(model=MODELS[wire], pauses=()))
        situations: list[str] = []
        async with link(agent, cwd=str(project), permissions=accord.allow_all) as client:
            session = await client.new_session()
            for turn in range(20):
                if turn == TURNS_BEFORE_COMPACTION:
                    _say(provider, Says("The values were read."))
                    await session.prompt("/compact")
                    situations.append("summary")
                if turn in (ARCHITECT_TURN, ARCHITECT_TURN + 1):
                    await session.set_mode("architect" if turn == ARCHITECT_TURN else "ask")
                calls = 3 if turn == 19 else 4
                for number in range(calls):
                    offset = 1 + 150 * (4 * turn + number)
                    _say(provider, Calls("read_file", {"file_path": "big.py", "offset": offset, "limit": 150}))
                _say(provider, Says("Done."))
                await session.prompt(f"Look at part {turn} of big.py.")
                situations += ["mode" if turn in (ARCHITECT_TURN, ARCHITECT_TURN + 1) else "", *[""] * calls]
        bodies = [asked.body for asked in provider.asked if asked.method == "POST"]
    assert len(bodies) == len(situations) == REQUESTS
    return _measure("chat" if wire == "openrouter" else wire, bodies, situations)


def _say(provider: FakeProvider, step: Any) -> None:
    provider.says(step, usage=Usage(input=4_000, output=OUTPUT_TOKENS))


def _measure(wire: str, bodies: Sequence[Any], situations: Sequence[str]) -> list[Sent]:
    measured = []
    before = Conversation(None, None, [])
    for body, situation in zip(bodies, situations, strict=True):
        now = Conversation.of(wire, body)
        is_same = now.prefix() == before.prefix()
        pairs = zip(now.messages, before.messages, strict=False)
        shared = [one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)] if is_same else []
        prefix = len(now.prefix()) / 4
        measured.append(Sent(prefix, _size(now.messages), prefix * is_same, _size(shared), situation))
        before = now
    return measured


def _size(messages: list[Any]) -> float:
    return len(json.dumps(messages, ensure_ascii=False)) / 4


def cost(requests: Sequence[Sent], price: Price, prefix: float | None = None) -> float:
    """Return the cost in US dollars; `prefix` replaces the size of tools and system prompt."""
    total = 0.0
    for sent in requests:
        size = prefix or sent.prefix
        cached = (size if sent.cached_prefix else 0.0) + sent.cached_messages
        fresh = size + sent.messages - cached
        write = price.input if price.cached_write is None else price.cached_write
        read = price.input if price.cached_read is None else price.cached_read
        total += fresh * write + cached * read + OUTPUT_TOKENS * price.output
    return total / 1_000_000


def former_cost(wire: str, requests: Sequence[Sent], price: Price) -> float:
    """Return what the same session cost in commit 6805b59.

    A change of the mode changed tools and system prompt, and so did compaction: nothing was read from the cache in
    the request that changed them and in the next one that changed them back. Through OpenRouter nothing was cached."""
    if wire == "openrouter":
        plain = Price(input=price.input, output=price.output, cached_read=None, cached_write=None)
        return cost(requests, plain, FORMER_PREFIX)
    loses = {"mode", "summary"}
    return cost([_drop_cache(sent) if sent.situation in loses else sent for sent in requests], price, FORMER_PREFIX)


def _drop_cache(sent: Sent) -> Sent:
    return Sent(sent.prefix, sent.messages, 0, 0, sent.situation)


def _configure(wire: str, directory: Path, provider: FakeProvider) -> None:
    name = MODELS[wire].partition(":")[0]
    (directory / "config.toml").write_text(
        f'[coder.providers.{name}]\nbase_url = "{provider.base_url(wire)}"\napi = "{wire}"\napi_key_env = "THE_KEY"\n'
    )
    os.environ |= {"ACCORD_CONFIG": str(directory / "config.toml"), "THE_KEY": "key-of-nobody"}


def describe(measured: dict[str, list[Sent]]) -> str:
    """Format the tables of docs/coder-evaluation.md."""
    models = known_models()
    anchors = " | ".join(ANCHORS)
    lines = [f"| model | before | now | {anchors} |", "|---" * (len(ANCHORS) + 3) + "|"]
    for wire, requests in measured.items():
        price = models[MODELS[wire]].price
        assert price is not None
        others = [cost(requests, price, size) for size in ANCHORS.values()]
        row = [former_cost(wire, requests, price), cost(requests, price), *others]
        lines.append(f"| `{MODELS[wire]}` | {' | '.join(f'${amount:.2f}' for amount in row)} |")
    sizes = [f"{requests[0].prefix:,.0f} tokens" for requests in measured.values()]
    lines += [
        "",
        "Tools and system prompt: " + ", ".join(f"{w} {size}" for w, size in zip(measured, sizes, strict=True)),
    ]
    return "\n".join(lines)


async def main() -> None:
    measured = {}
    for wire in MODELS:
        with tempfile.TemporaryDirectory(prefix="accord-cost-") as directory:
            measured[wire] = await record(wire, Path(directory))
    print(describe(measured))


if __name__ == "__main__":
    asyncio.run(main())
