"""Spawners that confine an agent: in a bubblewrap sandbox, or in a container.

Both build a command line and start it like any other agent process, under supervision: when the server ends for any
reason, the sandbox and everything in it ends too."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from accord.config.served_agents import serve_directory
from accord.errors import LaunchError
from accord.hub.principal import Principal
from accord.process import bubblewrap
from accord.transports.base import Transport
from accord.transports.subprocess import SubprocessTransport

MAX_CONTAINER_PROCESSES = 512


class BubblewrapSpawner:
    """Starts agents in a sandbox: the project is writable, everything else read-only, and the network optional."""

    def __init__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        *,
        network: bool = True,
        writable: Sequence[Path] = (),
        program: str = "bwrap",
    ) -> None:
        self._argv = list(argv)
        self._env = env
        self._network = network
        self._writable = list(writable)
        self._program = program

    def check(self) -> None:
        """Raise `LaunchError` if sandboxes can't be created here."""
        if shutil.which(self._program) is None:
            raise LaunchError(
                "--sandbox bubblewrap needs bwrap, which isn't installed; install the package bubblewrap, "
                "or use --sandbox docker or --sandbox none",
                stage="resolve",
            )
        argv = ["--ro-bind", "/", "/", *bubblewrap.isolation(network=self._network)]
        if problem := bubblewrap.probe(self._program, argv):
            raise LaunchError(problem, stage="resolve")

    def command(self, cwd: str) -> list[str]:
        """Return the command line for an agent that works in a directory."""
        root = os.path.realpath(cwd)
        argv = [self._program, "--ro-bind", "/", "/", "--dev", "/dev", *bubblewrap.proc_words()]
        argv += ["--tmpfs", "/tmp"]
        for hidden in self._programs_in_tmp():
            argv += ["--ro-bind", hidden, hidden]
        for path in (Path(root), *self._writable):
            argv += ["--bind", str(path), str(path)]
        # The server's tokens are not for its agents.
        if (own := serve_directory()).is_dir():
            argv += ["--tmpfs", str(own)]
        return [
            *argv,
            *bubblewrap.isolation(network=self._network),
            "--new-session",
            "--chdir",
            root,
            "--",
            *self._argv,
        ]

    async def spawn(self, cwd: str, principal: Principal) -> Transport:
        for path in self._writable:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
        return await SubprocessTransport.launch(self.command(cwd), cwd=cwd, env=self._env)

    def describe(self) -> str:
        return f"{shlex.join(self._argv)} in a sandbox{'' if self._network else ' without network'}"

    def _programs_in_tmp(self) -> list[str]:
        """Return the directories of the agent's program and of Accord itself, if they would be hidden with `/tmp`."""
        package = Path(__file__).resolve().parents[2]
        found = [sys.prefix, str(package), os.path.dirname(shutil.which(self._argv[0]) or "")]
        return [path for path in found if path.startswith("/tmp/")]


class DockerSpawner:
    """Starts agents in containers of an image: the project is mounted at its own path, the rest is read-only."""

    def __init__(
        self,
        image: str,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        *,
        network: bool = True,
        program: str = "docker",
    ) -> None:
        self._image = image
        self._argv = list(argv)
        self._env = dict(env or {})
        self._network = network
        self._program = program

    def check(self) -> None:
        """Raise `LaunchError` if the docker command isn't installed. The engine is contacted later."""
        if shutil.which(self._program) is None:
            raise LaunchError(
                "--sandbox docker needs the docker command, which isn't installed; install it, "
                "or use --sandbox bubblewrap or --sandbox none",
                stage="resolve",
            )

    def command(self, cwd: str, principal: Principal) -> list[str]:
        """Return the command line for an agent that works in a directory.

        Variables are passed by name: their values stay out of the process list. Those that the `docker` command would
        read itself are not secret, and passed with their values."""
        root = os.path.realpath(cwd)
        if "," in root:
            raise LaunchError(f"docker can't mount {root}: its name has a comma", stage="spawn")
        argv = [self._program, "run", "--rm", "--interactive", "--init"]
        argv += ["--name", f"accord-{secrets.token_hex(6)}", "--label", f"accord.principal={principal.name}"]
        argv += ["--network", "bridge" if self._network else "none"]
        argv += ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
        argv += ["--pids-limit", str(MAX_CONTAINER_PROCESSES)]
        if sys.platform != "win32":
            argv += ["--user", f"{os.getuid()}:{os.getgid()}"]
        argv += ["--mount", f"type=bind,source={root},target={root}", "--workdir", root]
        for name in sorted(self._env):
            argv += ["--env", f"{name}={self._env[name]}" if _is_read_by_docker(name) else name]
        return [*argv, self._image, *self._argv]

    async def spawn(self, cwd: str, principal: Principal) -> Transport:
        passed = {name: value for name, value in self._env.items() if not _is_read_by_docker(name)}
        env = {**os.environ, **passed}
        return await SubprocessTransport.launch(self.command(cwd, principal), cwd=cwd, env=env)

    def describe(self) -> str:
        return f"{shlex.join(self._argv)} in a container of {self._image}{'' if self._network else ' without network'}"


def _is_read_by_docker(name: str) -> bool:
    """Return whether a variable tells the `docker` command where its engine, its programs and its settings are."""
    return name in ("HOME", "PATH") or name.startswith("DOCKER_")
