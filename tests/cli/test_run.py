"""accord run: output, streams and exit status."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from support.cli_runner import AGENT, TIMEOUT_SECONDS, Accord, Here, agent

from accord.cli.support.launch import cannot_create_files
from accord.config.command import command_line

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_without_a_terminal_only_the_answer_goes_to_standard_output(accord: Accord) -> None:
    done = accord.run("work")
    assert done.status == 0
    assert done.out == "finished\n"
    assert done.err == "(the agent sent image; use --json to get it)\n"


def test_an_example_agent_answers_in_either_version(accord: Accord) -> None:
    command = f"{sys.executable} {EXAMPLES / 'echo_agent.py'}"
    for flags, version in ([], 1), (["--v2"], 2):
        done = accord("run", "--json", "--agent", command, *flags, "hello", "you")
        assert done.events("session")[0]["protocol_version"] == version
        assert done.events("ended")[0]["text"] == "You said: hello you"


def test_text_is_streamed_during_the_turn(accord: Accord) -> None:
    with accord.start("run", "--agent", agent(), "slow") as process:
        assert process.stdout is not None
        assert process.stdout.read(8) == "working "
        process.send_signal(2)
        assert process.stdout.read() == "stopped\n"
        assert process.wait(TIMEOUT_SECONDS) == 130


def test_the_prompt_is_read_from_standard_input_if_none_is_given(accord: Accord) -> None:
    assert accord.run(stdin="from a\npipe\n").out == "You said: from a\npipe\n"
    assert accord.run("before", "-", "after", stdin="a pipe\n").out == "You said: before\n\na pipe\n\nafter\n"


def test_without_a_prompt_nothing_is_started(accord: Accord, tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = accord("run", "--agent", agent("--log", str(log)), stdin="  \n")
    assert (done.status, done.err.splitlines()[0]) == (
        2,
        "accord run: no prompt: pass one as an argument, or pipe one in",
    )
    assert not log.exists()


def test_a_script_runs_turn_by_turn_in_one_session(accord: Accord, here: Here) -> None:
    script = accord.project / "script.md"
    script.write_text("---\nfirst\nline two\n---   \n\nsecond\n---\nstop refusal\n---\nnever sent\n")
    done = accord.run("--json", "--script", "script.md")
    assert [line["text"] for line in done.events("prompt")] == ["first\nline two", "second", "stop refusal"]
    assert len(done.events("session")) == 1
    assert done.status == 3, "a turn that does not come to its end is the last"
    assert here("run", "--script", "script.md", "and a prompt").status == 2


@pytest.mark.parametrize(
    "reason, status",
    [
        ("refusal", 3),
        ("max_tokens", 4),
        ("max_turn_requests", 5),
        ("cancelled", 130),
    ],
)
def test_the_exit_status_tells_how_the_turn_ended(accord: Accord, reason: str, status: int) -> None:
    done = accord.run(f"stop {reason}")
    assert (done.status, done.out) == (status, "so far\n")
    assert done.err == f"The agent stopped: {reason}\n"


def test_the_reader_of_the_output_can_stop_early(accord: Accord) -> None:
    with accord.start("run", "--agent", agent(), "many 50000") as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "line 0\n"
        process.stdout.close()
        assert process.wait(TIMEOUT_SECONDS) == 141
        assert process.stderr.read() == ""


def test_a_session_is_resumed_or_loaded_without_printing_its_history(accord: Accord) -> None:
    for offer, method in ("load,resume", "session/resume"), ("load", "session/load"):
        log = accord.folder / method.replace("/", "-")
        command = agent("--offer", offer, "--log", str(log))
        done = accord("run", "--agent", command, "--session", "s-77", "place")
        assert json.loads(done.out)["id"] == "s-77"
        assert "old" not in done.out
        assert method in log.read_text()
    done = accord.run("--session", "s-77", "hello")
    assert (done.status, done.out) == (1, "")
    assert "did not offer to resume sessions" in done.err


def test_mode_model_and_options_are_set_whatever_their_ids(accord: Accord) -> None:
    done = accord.run(
        *("--mode", "Write code", "--model", "deep", "--set", "effort=HIGH", "--set", "search the web=on", "place"),
        offer="modes,models,options",
    )
    said = json.loads(done.out)
    assert (said["mode"], said["model"], said["effort"], said["web"]) == ("code", "deep", "high", True)


def test_an_unknown_option_is_wrong_usage(accord: Accord) -> None:
    done = accord.run("--set", "efort=low", "place", offer="modes,options")
    assert (done.status, done.out) == (2, "")
    assert done.err == "accord run: this agent has no option 'efort'; did you mean effort?\nsee: accord run --help\n"


def test_files_after_an_at_sign_are_attached(accord: Accord) -> None:
    (accord.project / "notes.md").write_text("# Notes\n")
    (accord.project / "two words.txt").write_text("2")
    (accord.project / "data.bin").write_bytes(b"\xff\x00")
    prompt = (
        'show (see @notes.md), "@two words.txt" no, @"two words.txt"! and @data.bin; @none.txt me@notes.md @notes.md'
    )
    embedded = json.loads(accord.run(prompt, offer="resource").out)
    root = accord.project.as_uri()
    assert [each["type"] for each in embedded] == ["resource", "resource", "resource_link"]
    assert embedded[0]["resource"] == {"uri": f"{root}/notes.md", "text": "# Notes\n", "mimeType": "text/markdown"}
    assert embedded[1]["resource"]["uri"] == f"{root}/two%20words.txt"
    assert (embedded[2]["uri"], embedded[2]["name"], embedded[2]["size"]) == (f"{root}/data.bin", "data.bin", 2)

    linked = json.loads(accord.run(prompt).out)
    assert [(each["type"], each["name"]) for each in linked] == [
        ("resource_link", "notes.md"),
        ("resource_link", "two words.txt"),
        ("resource_link", "data.bin"),
    ]


def test_an_image_is_sent_to_an_agent_that_supports_images(accord: Accord, here: Here) -> None:
    (accord.project / "a.png").write_bytes(b"\x89PNG")
    done = accord.run("--image", "a.png", "show", offer="image")
    assert json.loads(done.out) == [{"type": "image", "mimeType": "image/png", "data": "iVBORw=="}]
    refused = accord.run("--image", "a.png", "show")
    assert (refused.status, refused.err) == (1, "accord: this agent doesn't accept images; remove --image\n")
    missing = here("run", "--agent", agent(), "--image", "b.png", "show")
    assert missing.status == 2 and "'b.png' does not exist" in missing.err


def test_mcp_servers_come_from_both_files_and_unsupported_ones_are_reported(accord: Accord) -> None:
    accord.config.write_text(
        f"[mcp_servers.mine]\ncommand = {sys.executable!r}\nargs = ['-V']\n"
        "[mcp_servers.far]\nurl = 'https://example.org/mcp'\n[mcp_servers.gone]\ncommand = 'no-such-program'\n"
    )
    (accord.project / "mcp.json").write_text(json.dumps({"mcpServers": {"json": {"command": "sh", "env": {"A": "b"}}}}))
    done = accord.run("--mcp-config", "mcp.json", "place")
    servers = {server["name"]: server for server in json.loads(done.out)["mcpServers"]}
    assert set(servers) == {"mine", "json"}
    assert servers["mine"]["args"] == ["-V"] and os.path.isabs(servers["json"]["command"])
    assert done.err.splitlines() == [
        "warning: MCP server 'far' is not passed on: the agent cannot reach servers over http",
        "warning: MCP server 'gone' is not passed on: there is no program 'no-such-program'",
    ]
    over_http = json.loads(accord.run("place", offer="http").out)["mcpServers"]
    assert [server["name"] for server in over_http] == ["mine", "far"]


def test_an_invalid_mcp_configuration_is_reported_with_its_file(accord: Accord) -> None:
    (accord.project / "mcp.json").write_text("{")
    done = accord.run("--mcp-config", "mcp.json", "hello")
    assert done.status == 1 and done.err.startswith("accord: mcp.json: invalid JSON")


def test_an_agent_gets_the_environment_of_its_entry(accord: Accord) -> None:
    (accord.home / ".profile").write_text("export FROM_PROFILE=yes\n")
    entry = f"command = {agent()!r}\nenv = {{ MINE = '1' }}\n"
    accord.config.write_text(
        f"default_agent = 'all'\n[agents.all]\n{entry}\n[agents.bare]\nenvironment = 'minimal'\n{entry}\n"
        f"[agents.login]\nenvironment = 'login-shell'\n{entry}"
    )
    env = {"OURS": "2", "SHELL": "/bin/sh"}
    found = {name: json.loads(accord("run", *flags, "env", env=env).out) for name, flags in _NAMED.items()}
    assert [found[name].get("MINE") for name in _NAMED] == ["1", "1", "1"]
    assert [found[name].get("OURS") for name in _NAMED] == ["2", None, "2"]
    assert [found[name].get("FROM_PROFILE") for name in _NAMED] == [None, None, "yes"]


_NAMED = {"all": [], "bare": ["--agent", "bare"], "login": ["--agent", "login"]}


def test_the_built_in_agent_is_used_if_none_is_configured(accord: Accord) -> None:
    (accord.project / "a.py").write_text("def hello(): ...\n")
    done = accord("run", "where is hello defined")
    assert done.status == 0 and "a.py:1" in done.out


def test_an_agent_that_reads_before_it_writes_can_create_files(accord: Accord) -> None:
    """Gemini CLI takes the error for a missing file for a failure, so reading isn't offered to it."""
    gemini = accord.folder / "gemini-cli"
    shutil.copy(AGENT, gemini)
    command = shlex.join([sys.executable, "-S", "-E", str(gemini)])
    done = accord("run", "--agent", command, "--allow", "write:new.txt", "create new.txt")
    assert (done.status, done.out) == (0, "written\n")
    assert (accord.project / "new.txt").read_text() == "hello"
    # Others are offered it: what they read through us is what deny rules hold for.
    assert accord.run("--allow", "write:b.txt", "create b.txt").out == "Error checking existing file\n"


@pytest.mark.parametrize(
    "line, is_gemini",
    [
        ("gemini --acp", True),
        ("gemini-cli", True),
        ("/usr/bin/gemini.cmd", True),
        ("npx -y @google/gemini-cli@0.61.0 --experimental-acp", True),
        ("node /opt/lib/node_modules/@google/gemini-cli/dist/index.js", True),
        ("python /home/gemini/agent.py", False),
        ("my-gemini", False),
        ("qwen --acp", False),
    ],
)
def test_gemini_is_recognized_by_its_command(line: str, is_gemini: bool) -> None:
    assert cannot_create_files(command_line(line)) is is_gemini
