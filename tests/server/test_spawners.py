"""Agents in a sandbox: what they can reach, and that nothing of them stays behind."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.prerequisites import require

from accord.errors import LaunchError
from accord.hub.principal import Principal
from accord.server.spawners import BubblewrapSpawner, DockerSpawner
from accord.transports.base import Transport

WHO = Principal("ci", "driver")
PROBE = """
import json, os, socket, sys
def attempt(action):
    try:
        action()
        return True
    except OSError:
        return False
outside = sys.argv[1]
print(json.dumps({
    "inside": attempt(lambda: open("made", "w").close()),
    "outside": attempt(lambda: open(os.path.join(outside, "made"), "w").close()),
    "reads": attempt(lambda: os.listdir(outside)),
    "tokens": os.path.exists(os.path.join(outside, "serve", "tokens.json")),
    "network": attempt(lambda: socket.create_connection(("127.0.0.1", int(sys.argv[2])), 5)),
    "pid": os.getpid(),
    "cwd": os.getcwd(),
}), flush=True)
sys.stdin.read()
"""


class Lines:
    """Collects what an agent process prints."""

    def __init__(self) -> None:
        self.received: asyncio.Queue[bytes] = asyncio.Queue()

    def on_lines(self, block: bytes) -> None:
        self.received.put_nowait(block)

    def on_oversized(self, head: bytes, size: int) -> None:
        pass

    def on_end(self, error: Exception | None) -> None:
        self.received.put_nowait(json.dumps({"ended": str(error)}).encode())


async def first_line(transport: Transport) -> dict[str, object]:
    lines = Lines()
    transport.start(lines)
    try:
        return dict(json.loads(await lines.received.get()))
    finally:
        await transport.close()


@pytest.fixture
def needs_bwrap() -> None:
    require(None if shutil.which("bwrap") else "bubblewrap is not installed")


@pytest.mark.usefixtures("needs_bwrap")
@pytest.mark.parametrize("network", [True, False])
async def test_a_sandboxed_agent_writes_only_its_project_and_reaches_the_network_only_if_it_may(
    network: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, outside = tmp_path / "project", Path.home() / f".accord-test-{os.getpid()}-{network}"
    project.mkdir()
    outside.mkdir()
    try:
        (outside / "serve").mkdir()
        (outside / "serve" / "tokens.json").touch()
        monkeypatch.setenv("ACCORD_DATA_HOME", str(outside))
        server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        argv = [sys.executable, "-c", PROBE, str(outside), str(port)]
        spawner = BubblewrapSpawner(argv, network=network)
        spawner.check()
        found = await first_line(await spawner.spawn(str(project), WHO))
        server.close()
    finally:
        shutil.rmtree(outside)
    assert found["inside"] and (project / "made").exists()
    assert not found["outside"] and found["reads"]
    assert not found["tokens"], "the server's tokens are visible in the sandbox"
    assert found["network"] is network
    assert found["cwd"] == str(project.resolve())


@pytest.mark.usefixtures("needs_bwrap")
async def test_closing_a_sandbox_ends_everything_in_it(tmp_path: Path) -> None:
    marker = f"accord-test-{os.getpid()}"
    program = (
        "import subprocess, sys\n"
        f"subprocess.Popen(['sleep', '1000'], env={{'MARK': '{marker}'}})\n"
        "print('{}', flush=True)\n"
        "sys.stdin.read()"
    )
    spawner = BubblewrapSpawner([sys.executable, "-c", program])
    await first_line(await spawner.spawn(str(tmp_path), WHO))
    assert processes_with(marker) == []


def processes_with(marker: str) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"MARK={marker}".encode() in path.read_bytes():
                found.append(int(path.parts[2]))
        except OSError:
            continue
    return found


def test_a_missing_bwrap_is_an_error_that_says_what_to_install() -> None:
    with pytest.raises(LaunchError, match="install the package bubblewrap, or use --sandbox docker or --sandbox none"):
        BubblewrapSpawner(["agent"], program="no-such-bwrap").check()


def test_a_bwrap_that_may_not_create_sandboxes_is_an_error_with_its_reason(tmp_path: Path) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    with pytest.raises(LaunchError, match="No permissions to create new namespace; the system may forbid user namesp"):
        BubblewrapSpawner(["agent"], program=str(fake)).check()


def test_the_command_line_of_a_container_confines_it(tmp_path: Path) -> None:
    spawner = DockerSpawner("image:1", ["agent", "--acp"], {"API_KEY": "secret"}, network=False)
    words = spawner.command(str(tmp_path), WHO)
    root = os.path.realpath(tmp_path)
    assert words[:5] == ["docker", "run", "--rm", "--interactive", "--init"]
    assert words[-3:] == ["image:1", "agent", "--acp"]
    options = dict(itertools.pairwise(words))
    assert options["--mount"] == f"type=bind,source={root},target={root}"
    assert options["--workdir"] == root
    assert options["--network"] == "none"
    assert options["--cap-drop"] == "ALL"
    assert options["--security-opt"] == "no-new-privileges"
    assert options["--user"] == f"{os.getuid()}:{os.getgid()}"
    assert options["--label"] == "accord.principal=ci"
    assert options["--env"] == "API_KEY" and "secret" not in " ".join(words)
    assert "--read-only" in words and "--privileged" not in words


@pytest.mark.skipif(shutil.which("docker") is None, reason="docker is not installed")
def test_docker_knows_every_option_of_the_command_line(tmp_path: Path) -> None:
    """Without an engine: docker reads its options before it looks for one."""
    words = DockerSpawner("image:1", ["agent"], {"API_KEY": "secret"}, network=False).command(str(tmp_path), WHO)
    nowhere = {**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/none", "DOCKER_CONTEXT": ""}
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=nowhere, check=False)
    assert "connect to the docker" in done.stderr.lower(), done.stderr


def test_two_containers_have_two_names(tmp_path: Path) -> None:
    spawner = DockerSpawner("image:1", ["agent"])
    names = {words[words.index("--name") + 1] for words in (spawner.command(str(tmp_path), WHO) for _ in range(2))}
    assert len(names) == 2


def fake_docker(directory: Path) -> Path:
    """A `docker` that runs what comes after the image; the tests have no container engine."""
    fake = directory / "docker"
    fake.write_text('#!/bin/sh\nwhile [ "$1" != image:1 ]; do shift; done\nshift\nexec "$@"\n')
    fake.chmod(0o755)
    return fake


async def test_the_environment_of_an_agent_does_not_change_what_docker_does(tmp_path: Path) -> None:
    """`docker` runs programs that its settings name, and those are in its home directory."""
    env = {"HOME": "/tmp", "PATH": "/image/bin", "DOCKER_HOST": "tcp://image", "API_KEY": "secret"}
    probe = "import json, os; print(json.dumps({name: os.environ.get(name) for name in %r}), flush=True)" % [*env]
    spawner = DockerSpawner("image:1", [sys.executable, "-c", probe], env, program=str(fake_docker(tmp_path)))
    found = await first_line(await spawner.spawn(str(tmp_path), WHO))
    assert found == {**{name: os.environ.get(name) for name in env}, "API_KEY": "secret"}
    words = spawner.command(str(tmp_path), WHO)
    assert {"HOME=/tmp", "PATH=/image/bin", "DOCKER_HOST=tcp://image", "API_KEY"} < set(words)


async def test_an_agent_in_a_container_is_an_agent_on_standard_input_and_output(tmp_path: Path) -> None:
    fake = fake_docker(tmp_path)
    probe = "import json, os; print(json.dumps({'key': os.environ['API_KEY'], 'cwd': os.getcwd()}), flush=True)"
    spawner = DockerSpawner("image:1", [sys.executable, "-c", probe], {"API_KEY": "secret"}, program=str(fake))
    spawner.check()
    found = await first_line(await spawner.spawn(str(tmp_path), WHO))
    assert found == {"key": "secret", "cwd": os.path.realpath(tmp_path)}  # noqa: ASYNC240


def test_a_missing_docker_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(LaunchError, match="needs the docker command, which isn't installed"):
        DockerSpawner("image", ["agent"], program="no-such-docker").check()


def test_a_directory_that_docker_would_misread_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="its name has a comma"):
        DockerSpawner("image", ["agent"]).command(f"{tmp_path},readonly", WHO)
