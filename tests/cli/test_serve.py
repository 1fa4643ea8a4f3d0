"""`accord serve` as a user runs it: its output, rejected options, tokens, and exit."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.cli_runner import Accord, Done, agent, gone
from support.serve_process import ServeProcess

Start = Callable[..., ServeProcess]


@pytest.fixture
def start(accord: Accord) -> Iterator[Start]:
    """Starts `accord serve` on a free port."""
    running: list[ServeProcess] = []

    def serve(*words: str) -> ServeProcess:
        serving = ServeProcess.start(accord, *words)
        running.append(serving)
        return serving

    yield serve
    for serving in running:
        serving.kill()


def test_the_banner_shows_the_url_and_how_to_connect_but_not_the_token(start: Start) -> None:
    serving = start("--agent", agent())
    local = serving.accord.data / "serve" / "local.json"
    assert f"accord chat {serving.url}\n" in serving.banner and f"accord connect {serving.url} " in serving.banner
    assert str(local) in serving.banner
    assert local.stat().st_mode & 0o777 == 0o600
    token = serving.token
    assert (serving.initialize(), serving.initialize(token), serving.get("/readyz")) == (401, 200, 200)
    done = serving.end()
    assert (done.status, done.err) == (0, "")
    assert token not in serving.banner + done.out
    assert not local.exists()
    logs = local.parent
    assert token not in (logs / "access.jsonl").read_text() + (logs / "audit.jsonl").read_text()


def test_the_token_is_printed_on_request(start: Start) -> None:
    serving = start("--show-token", "--", *shlex.split(agent()))
    assert serving.token in serving.banner
    assert serving.end(signal.SIGINT).status == 0


def test_a_client_with_a_wrong_token_or_path_gets_the_servers_error_and_advice(start: Start, accord: Accord) -> None:
    serving = start("--agent", agent())
    refused = accord("run", "--agent", serving.url, "hello", env={"ACCORD_TOKEN": "wrong"})
    assert (refused.status, refused.err) == (
        1,
        f"accord: {serving.url} requires a valid token (HTTP 401): The token is invalid, expired or revoked. "
        "To create one: accord serve token new NAME\n"
        "Set ACCORD_TOKEN, or save a token: accord connect URL --save-token\n",
    )
    missing = accord("run", "--agent", f"{serving.url}x", "hello")
    assert (missing.status, missing.err) == (
        1,
        f"accord: there is no agent at {serving.url}x (HTTP 404): Not found. The agent is at /acp.\n",
    )


def test_tokens_are_created_listed_and_revoked_while_the_server_runs(start: Start, accord: Accord) -> None:
    serving = start("--agent", agent())
    created = accord("serve", "token", "new", "laptop", "--role", "watcher", "--expires", "30d")
    token = created.out.strip()
    assert re.fullmatch(r"accord_[\w-]{43}", token)
    assert token not in created.err
    assert serving.initialize(token) == 200

    listed = accord("serve", "token", "list")
    assert listed.out.startswith("laptop  watcher  created 20") and "  expires 20" in listed.out
    assert token not in listed.out
    (entry,) = accord("serve", "token", "list", "--json").lines
    assert sorted(entry) == ["created", "expires", "name", "role"]

    assert accord("serve", "token", "revoke", "laptop").status == 0
    assert serving.initialize(token) == 401
    assert accord("serve", "token", "list").out == ""
    assert serving.end().status == 0


@pytest.mark.parametrize(
    "words, problem",
    [
        (["--host", "192.0.2.1"], "refusing to listen on 192.0.2.1 without encryption"),
        (["--host", "0.0.0.0", "--behind-proxy"], "--host 0.0.0.0 also needs --allow-host NAME"),
        (["--trust-origin", "http://localhost:1", "--behind-proxy"], "--trust-origin works only on loopback"),
        (["--allow-origin", "example.org"], "isn't an origin such as https://example.org"),
        (["--sandbox", "docker"], "--sandbox docker needs --image IMAGE"),
        (["--no-network"], "--no-network needs --sandbox"),
        (["--image", "python:3.12"], "--image needs --sandbox docker"),
        (["--sandbox", "bubblewrap", "--image", "python:3.12"], "--image needs --sandbox docker"),
        (["--memory", "--sessions", "sessions.sqlite"], "use --memory or --sessions, not both"),
        (["--tls-cert", "README.md"], "use both --tls-cert and --tls-key, or neither\nsee: accord serve --help\n"),
        (["--path", "acp"], "'acp' can't be the agent's path"),
        (["--path", "/metrics"], "'/metrics' can't be the agent's path"),
        (["--permissions", "quorum:none"], "--permissions: permission policy 'quorum:none'"),
        (["--agent", "a b", "--", "c"], "use --agent or a command after --, not both"),
        (["python", "agent.py"], "no such command 'python'; put the agent's command after --"),
        (["--"], "the agent's command is missing after --"),
    ],
)
def test_options_that_are_invalid_or_would_expose_the_agent_are_rejected(
    words: list[str], problem: str, here: Callable[..., Done], accord: Accord
) -> None:
    (accord.project / "README.md").touch()
    done = here("serve", "--port", "0", *words)
    assert done.status == 2 and problem in done.err


@pytest.mark.parametrize("when", ["soon", "2020-01-01", "30", "-1d", "0d"])
def test_an_invalid_expiry_is_rejected(when: str, here: Callable[..., Done]) -> None:
    done = here("serve", "token", "new", "laptop", f"--expires={when}")
    assert done.status == 2 and "--expires" in done.err


def test_a_port_that_is_taken_is_an_error(start: Start, accord: Accord) -> None:
    port = start("--agent", agent(), "--memory").url.split(":")[2].partition("/")[0]
    done = accord("serve", "--port", port, "--memory", "--agent", agent())
    assert done.status == 1 and f"can't listen on 127.0.0.1 port {port}: " in done.err


def test_two_servers_do_not_share_their_saved_sessions(start: Start, accord: Accord) -> None:
    first = start("--agent", agent())
    done = accord("serve", "--port", "0", "--agent", agent())
    assert done.status == 1 and "is in use by another server" in done.err
    assert "use --sessions FILE or --memory" in done.err
    second = start("--sessions", "other.sqlite", "--agent", agent())
    assert first.url != second.url
    assert (first.initialize(first.token), first.get("/healthz"), second.get("/healthz")) == (200, 200, 200)


def test_an_agent_that_cannot_be_started_does_not_stop_the_server(start: Start) -> None:
    serving = start("--", "./no-such-agent")
    assert serving.initialize(serving.token) in (200, 502)
    assert serving.get("/healthz") == 200
    assert serving.end().status == 0


def test_killing_the_server_leaves_no_agent_behind(start: Start) -> None:
    serving = start("--agent", agent())
    assert serving.initialize(serving.token) == 200
    running = children_of(serving.process.pid)
    assert running
    serving.process.kill()
    serving.process.communicate()
    assert gone(*running)


def children_of(pid: int) -> set[int]:
    """Return all descendants of a process."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(path.parts[2])] = int(fields[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def test_help_lists_the_options_without_importing_the_server(accord: Accord) -> None:
    code = (
        "import sys; sys.argv = ['accord', 'serve', '--help']\n"
        "from accord.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([m for m in ('hypercorn', 'asyncio', 'accord.server.server', 'accord.hub.hub') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=accord.environment(), capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]" and "--isolation" in done.stdout
