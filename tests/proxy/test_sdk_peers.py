"""Clients and agents on the official SDKs at both ends of a chain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from peers import commands
from peers.client_run import COMMON_STEPS, FIRST_STEPS, ClientRun, prompt_steps
from support.chains import conductor_command, proxy_command
from support.prerequisites import require

pytestmark = pytest.mark.peer

PAIRS = ("py-client-v1 ts-agent-v1", "ts-client-v1 py-agent-v1", "ts-client-v2 ts-agent-v2")
PROMPTS = ["think", "tool", "fail", "refuse", "big 1000000", "read notes.md", "write out.md some text"]
STEPS: dict[str, dict[str, Any]] = {
    **FIRST_STEPS,
    **prompt_steps(PROMPTS),
    **{name: COMMON_STEPS[name] for name in ("allow", "reject", "wait", "after cancel")},
    "echo": {"do": "request", "method": "_test/echo", "params": {"a": [1, {"b": None}]}},
    "load unknown": {"do": "load", "session": "nobody"},
}


@pytest.mark.req("V1-PROXY-06", "V1-PROXY-09", "V1-PROXY-10")
@pytest.mark.parametrize("pair", PAIRS)
def test_the_sdks_work_through_a_nested_chain(pair: str, tmp_path: Path) -> None:
    require(commands.missing("ts", *(["py"] if "py" in pair else [])))
    version = int(pair[-1])
    client, agent = (name[:2] for name in pair.split())
    (tmp_path / "notes.md").write_text("one\ntwo\n")
    program, alone = commands.client(client, version), commands.agent(agent, version)  # type: ignore[arg-type]
    chain = conductor_command(proxy_command(), conductor_command(proxy_command(), proxy_command()), alone)

    run = ClientRun(STEPS, commands.play(program, chain, *STEPS.values(), cwd=tmp_path, within=600.0))

    assert run.one("initialize", "initialize")["result"]["protocolVersion"] == version
    assert run.texts("think") == ["four ", "five ", "six"]
    assert run.updates("tool", "tool_call_update")[-1]["status"] == "completed"
    assert len(run.texts("big 1000000")[0]) == 1_000_000
    assert (run.texts("allow"), run.texts("reject")) == (["allowed"], ["denied"])
    assert (run.stop("wait"), run.texts("after cancel")) == ("cancelled", ["still ", "here"])
    assert run.stop("refuse") == "refusal"
    failure = run.one("fail", "error") if version == 1 else run.one("fail", "stop")["error"]
    assert (failure["code"], failure["data"]) == (-32603, {"why": "asked"})
    assert run.one("log in wrongly", "error")["code"] == -32602
    assert run.one("load unknown", "error")["code"] == -32002
    assert run.one("echo", "answer")["result"] == {"a": [1, {"b": None}]}
    if version == 1:
        assert run.texts("read notes.md") == ["one\ntwo\n"]
        assert (tmp_path / "out.md").read_text() == "some text"
