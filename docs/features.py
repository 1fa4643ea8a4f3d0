"""Write `docs/features.md`: what authors can express, and the tests that prove it on both sides.

A test names the features that it shows: `@pytest.mark.feature("plans", "agent", "client")`. Tests that use the fixtures
`version` or `link` run in both protocol versions; others say `versions=(2,)`. Run it with `make features`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PAGE = HERE / "features.md"
BOTH = (1, 2)

ROWS: dict[str, tuple[str, str]] = {
    "sessions": ("`new_session`, `session_opened`", "`agent.new_session`"),
    "stored sessions": ("`store`, `load_session`, `resume_session`", "`agent.load_session`, `agent.resume_session`"),
    "listing, closing, deleting": ("`list_sessions`, `delete_session`", "`agent.list_sessions`, `session.close`"),
    "forks": ("`fork_session`", "`agent.fork_session`"),
    "archives, status, titles": ("`archive_session`, `session_status`", "`agent.archive_session`, `agent.set_title`"),
    "system prompts": ("`session.system_prompt`", "`new_session(system_prompt=…)`"),
    "MCP servers": ("`session.mcp_servers`", "`mcp_servers=`"),
    "MCP over ACP": ('`mcp = (…, "acp")`, `session.mcp_transport`', "server objects, `OfferedServer`"),
    "login and logout": ("`login(method_id, client)`, `logout`", "`agent.login`, `login=`"),
    "questions during a login": ("`client.ask`", "`elicitation=`"),
    "login status": ("`auth_status`, `client.set_auth_status`", "`agent.auth_status`, `agent.events()`"),
    "providers": ("`list_providers`, `set_provider`", "`agent.list_providers`, `agent.set_provider`"),
    "client handle outside sessions": ("`on_connect(client)`, `client.notify`", "`extensions=`"),
    "prompts and stop reasons": ("`prompt(turn)`", "`session.prompt`, `turn.stop_reason`"),
    "token counts": ("`turn.tokens`", "`turn.tokens`"),
    "cancelling": ("`asyncio.CancelledError`", "`session.cancel`"),
    "prompts that join a turn": ("`turn.take_prompts`", "`session.prompt` while busy"),
    "messages": ("`say`, `think`", "`Text`, `Thought`"),
    "whole messages": ("`session.set_message`", "`MessageSet`"),
    "content": ("`Image`, `Audio`, `Resource`, `ResourceLink`", "`Media`, `turn.content`"),
    "link icons": ("`ResourceLink(icons=[Icon(…)])`", "`link.icons`"),
    "tool calls": ("`turn.tool`", "`ToolCall`"),
    "diffs": ("`tool.diff`, `Diff`", "`call.diffs`"),
    "cancelling one tool call": ("`cancel_tool_call`", "`session.cancel_tool_call`"),
    "clearing fields": ("`tool.update(title=None)`", "empty fields"),
    "display terminals": ("`display_terminal`, `terminal.update`", "`TerminalChanged`, `TerminalOutput`"),
    "the client's files": ("`turn.files`", "`Workspace`"),
    "the client's terminals": ("`turn.terminals`", "`Workspace`"),
    "plans": ("`turn.plan`", "`Plan`"),
    "slash commands": ("`@command`, `session.set_commands`", "`session.commands`"),
    "modes and options": ("`modes`, `options`, `set_option`", "`session.options`, `session.set_option`"),
    "custom variants": ("`other=`, `subject=`, `input=`", "`option.other`, `request.other`, `command.input`"),
    "usage": ("`turn.usage`", "`Usage`"),
    "notices": ("`turn.notice`", "`Notice`"),
    "compaction": ("`session.compaction`", "`Compaction`"),
    "session information": ("`session.set_info`, `set_title`", "`InfoChanged`"),
    "background work": ("`tool(background=True)`, `set_background`", "`StateChanged.background`"),
    "work without a prompt": ("`session.work()`", "`StateChanged`, `session.events()`"),
    "custom states": ("`session.set_state`", "`StateChanged.state`"),
    "permissions": ("`permit`", "`permissions=`"),
    "forms": ("`ask(message, schema)`", "`elicitation=`"),
    "pages": ("`ask(message, url=…)`", "`elicitation=`"),
    "finished pages": ("`page_done`", "`PageDone`"),
    "forms only, pages only": ("`client.offers.forms`, `.urls`", "`elicitation_modes=`"),
    "subagents": ("`session.child`, `session.subagent`", "`Subagent`, `agent.sessions`"),
    "messages between sessions": ("`session.session_message`", "`SubagentMessage`"),
    "extension methods": ("`extension_request`, `turn.request`", "`agent.request`, `extensions=`"),
    "unknown updates and content": ("`session.update`, `UnknownContent`", "`Unknown`, `UnknownContent`"),
    "metadata of the handshake": ("`client.meta`, `client.info.meta`", "`meta=`, `info=`, `capability_meta=`"),
    "metadata of responses": ("`session.response_meta`, `turn.response_meta`", "the same names"),
    "metadata of updates": ("`meta=`", "`event.meta`"),
    "metadata of parts": ("`PlanEntry(meta=…)`, `Option(meta=…)`, …", "`.meta`"),
    "metadata of requests to the user": ("`permit(meta=…)`, `ask(meta=…)`", "`request.meta`, `request.response_meta`"),
}
"""Each feature: what an agent's author writes, and what a client's author writes."""

INTRO = """# Features

This page lists what the protocol can express, and how to write it with Accord. The linked tests show each feature on
both sides. Where only one version is listed, the other one has no equivalent. Typed access to everything else, such as
next edit suggestions, is in [wire.md](wire.md).

| feature | agent | client | versions | tests |
|---|---|---|---|---|
"""


class Proof(NamedTuple):
    """A test that shows a feature."""

    feature: str
    sides: tuple[str, ...]
    versions: tuple[int, ...]
    file: str
    test: str


def proofs() -> Iterator[Proof]:
    """Find the tests that name features."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        source = path.read_text(encoding="utf-8")
        if "mark.feature(" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for decorator in node.decorator_list:
                    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.feature":
                        yield _proof(decorator, node, path.relative_to(ROOT).as_posix())


def _proof(mark: ast.Call, test: ast.FunctionDef | ast.AsyncFunctionDef, file: str) -> Proof:
    feature, *sides = [ast.literal_eval(each) for each in mark.args]
    named = {keyword.arg: ast.literal_eval(keyword.value) for keyword in mark.keywords}
    fixtures = {each.arg for each in test.args.args}
    versions = named.get("versions", BOTH if fixtures & {"version", "link"} else ())
    return Proof(feature, tuple(sides), tuple(versions), file, test.name)


def page() -> str:
    """Build the page. Raises `LookupError` for a row that no test shows on both sides, or a mark without a row."""
    found = list(proofs())
    if unknown := {proof.feature for proof in found} - set(ROWS):
        raise LookupError(f"docs/features.py has no row for {sorted(unknown)}")
    lines = [INTRO]
    for feature, (agent, client) in ROWS.items():
        of_it = [proof for proof in found if proof.feature == feature]
        sides = {side for proof in of_it for side in proof.sides}
        versions = sorted({version for proof in of_it for version in proof.versions})
        if sides != {"agent", "client"} or not versions:
            raise LookupError(f"no test shows “{feature}” on both sides")
        links = ", ".join(f'[{number}](../{proof.file} "{proof.test}")' for number, proof in enumerate(of_it, 1))
        lines.append(f"| {feature} | {agent} | {client} | {', '.join(map(str, versions))} | {links} |\n")
    return "".join(lines)


if __name__ == "__main__":
    sys.stdout.write(f"{PAGE.relative_to(ROOT)}: {len(ROWS)} features\n")
    PAGE.write_text(page(), encoding="utf-8")
