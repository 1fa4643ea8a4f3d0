"""accord doctor: each station says in words what fails and what to do, and changes nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from commands import Accord, Done, Here, agent, with_time


def steps(done: Done) -> dict[str, dict[str, object]]:
    return {line["stage"]: line for line in map(json.loads, done.out.splitlines())}


def test_a_healthy_agent_passes_every_station(accord: Accord) -> None:
    done = accord("doctor", agent("--offer", "resource,http,options"), "--prompt", "hello")
    assert done.status == 0 and done.err == ""
    heads = [line.split(":")[0] for line in done.out.splitlines() if not line.startswith(" ")]
    assert heads == [
        f"ok   {stage}"
        for stage in (
            "configuration",
            "permissions",
            "resolve",
            "spawn",
            "first byte",
            "initialize",
            "auth",
            "session",
            "prompt",
        )
    ]
    assert "Tester 1.2, protocol version 1" in done.out
    assert "offers: resource\n" in done.out and "mcp servers over: http, stdio\n" in done.out
    assert "option: effort = low (low, high)\n" in done.out
    assert "ok   prompt: end_turn: You said: hello" in done.out
    assert f"python: {sys.version.split()[0]}" in done.out


@pytest.mark.parametrize(
    "fault, stage, said, advice",
    [
        ("dies", "initialize", "config.json: no such file", "run the command yourself in a terminal"),
        ("forks", "initialize", "ended with status 0", "run the command yourself in a terminal"),
        ("never", "first byte", 'its last words: "still downloading"', "it runs but says nothing"),
        ("garbage", "initialize", "Welcome to Tester!", "it speaks, but its answer is not the protocol's"),
        ("refuses", "initialize", "this installation is broken", "it speaks, but its answer is not the protocol's"),
        ("no-session", "session", "no disk left", "opens no session"),
    ],
)
def test_a_sick_agent_fails_at_its_station(accord: Accord, fault: str, stage: str, said: str, advice: str) -> None:
    done = with_time(
        lambda seconds: accord("doctor", "--json", "--timeout", seconds, agent("--fault", fault)),
        lambda done: said in str(list(steps(done).values())[-1]["found"]),
    )
    assert done.status == 1
    *before, last = steps(done).values()
    assert all(step["ok"] for step in before)
    assert (last["stage"], last["ok"]) == (stage, False)
    assert said in str(last["found"]) and advice in str(last["advice"])


@pytest.mark.parametrize(
    "words, stage, said",
    [
        ([agent("--fault", "slow-session")], "session", "session/new"),
        ([agent(), "--prompt", "slow"], "prompt", "no end of the turn within "),
    ],
)
def test_a_session_or_a_turn_that_never_ends_is_given_up(
    accord: Accord, words: list[str], stage: str, said: str
) -> None:
    done = with_time(
        lambda seconds: accord("doctor", "--json", "--timeout", seconds, *words), lambda done: stage in steps(done)
    )
    last = steps(done)[stage]
    assert (done.status, last["ok"]) == (1, False)
    assert said in str(last["found"]) and last["advice"]


@pytest.mark.parametrize(
    "target, stage, found",
    [
        ("scrib", "resolve", "did you mean scribe?"),
        ("/no/such/program --acp", "spawn", "there is no file /no/such/program"),
        ("unfinished 'quote", "resolve", "is no command line"),
        ("https://example.org/acp", "resolve", "cannot be reached by this version"),
        ("scribe", "spawn", "there is no command 'no-such-program' on the PATH; install it"),
        ("lost", "resolve", "is not installed any more; install it again: accord agents update lost"),
    ],
)
def test_what_cannot_be_found_or_started_is_said(
    accord: Accord, here: Here, target: str, stage: str, found: str
) -> None:
    accord.config.write_text(
        "[agents.scribe]\ncommand = 'no-such-program'\n"
        "[agents.lost]\ncommand = ['/no/cache/lost']\nregistry = 'lost'\nversion = '1.0.0'\n"
    )
    done = here("doctor", "--json", target)
    *_, last = steps(done).values()
    assert (done.status, last["stage"], last["ok"]) == (1, stage, False)
    assert found in str(last["found"]) and last["advice"]


def test_a_login_that_is_needed_is_told_and_not_made(accord: Accord, tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = accord("doctor", "--json", agent("--offer", "login", "--log", str(log)), "--prompt", "hello")
    auth = steps(done)["auth"]
    assert (auth["ok"], auth["advice"]) == (False, "log in with: browser: Log in with a browser (agent)")
    assert log.read_text().split() == ["initialize", "session/new"]


def test_looking_leaves_nothing_behind(accord: Accord, tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert accord("doctor", agent("--offer", "delete,close", "--log", str(log))).status == 0
    assert log.read_text().split() == ["initialize", "session/new", "session/close", "session/delete"]
    assert not accord.data.exists() and not accord.cache.exists() and list(accord.config.parent.iterdir()) == []
    assert list(accord.project.iterdir()) == []


def test_what_the_agent_asks_for_in_a_probe_is_refused(accord: Accord) -> None:
    done = accord("doctor", "--json", agent(), "--prompt", "permission make test")
    assert steps(done)["prompt"]["found"] == "end_turn: chosen: no"


def test_a_broken_configuration_is_the_first_station(accord: Accord, here: Here) -> None:
    accord.config.write_text("x = \n")
    done = here("doctor")
    assert done.status == 1
    assert done.out.startswith(f"FAIL configuration: {accord.config}: line 1, column 5: ")
    assert "→ mend the file, or move it away" in done.out


def test_rules_that_match_nothing_and_rules_that_cannot_be_read_are_told(accord: Accord) -> None:
    accord.config.write_text("[permissions]\nallow = ['command:make test', 'write:srcs/**']\n")
    (accord.project / "accord.toml").write_text("[permissions]\nallow = ['command:rm *']\ndeny = ['path:**/.env']\n")
    assert accord.run("permission make test").out == "chosen: once\n"
    done = accord("doctor", "--json", agent())
    found = steps(done)["permissions"]
    assert found["ok"] and str(found["found"]).startswith("3 rules")
    details = found["details"]
    assert isinstance(details, dict)
    assert details["matched nothing so far"] == [
        "deny path:**/.env (the project's accord.toml)",
        "allow write:srcs/** (your configuration): there is no srcs in the project",
    ]
    assert "ignored, since this folder is not trusted: allow command:rm *" in details["note"][0]

    accord.config.write_text("[permissions]\nallow = ['make test']\n")
    done = accord("doctor", "--json", agent())
    found = steps(done)["permissions"]
    assert not found["ok"] and f"{accord.config}: line 2: permissions.allow[0]: at character 1" in str(found["found"])
    assert done.status == 1 and steps(done)["session"]["ok"], "the agent is looked at all the same"


def test_without_an_agent_the_only_one_is_meant_or_ours_and_of_several_one_must_be_named(
    accord: Accord, here: Here
) -> None:
    ours = accord("doctor")
    assert ours.status == 0 and "-m accord agent" in ours.out
    accord.config.write_text(f"[agents.only]\ncommand = {agent()!r}\n")
    assert accord("doctor").status == 0
    accord.config.write_text("[agents.one]\ncommand = 'one'\n[agents.two]\ncommand = 'two'\n")
    done = here("doctor")
    assert done.status == 1
    assert "FAIL resolve: no agent was named and none is the default" in done.out


def test_servers_that_the_agent_cannot_have_are_named(accord: Accord) -> None:
    accord.config.write_text(
        "[mcp_servers.web]\nurl = 'https://example.com'\n[mcp_servers.lost]\ncommand = 'no-such-program'\n"
        "[mcp_servers.empty]\n"
    )
    details = steps(accord("doctor", "--json", agent()))["initialize"]["details"]
    assert isinstance(details, dict)
    assert details["note"] == [
        "MCP server 'web' is not passed on: the agent cannot reach servers over http",
        "MCP server 'lost' is not passed on: there is no program 'no-such-program'",
        "MCP server 'empty' is not passed on: it has neither a command nor a url",
    ]
