"""Commands in the sandbox need no permission, and can't do any harm: each attack is run."""

# ruff: noqa: ASYNC221, ASYNC240  # the tests look at files beside the agent, in the same loop
from __future__ import annotations

import asyncio
import os
import shlex
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from support.link import until
from support.prerequisites import needs

from accord.coder.background_commands import BackgroundCommands
from accord.config.settings import CoderSettings, SandboxEntry
from accord.model.requests import PermissionRequest
from accord.policy import confinement
from accord.policy.engine import Policy
from accord.policy.rule import Rule
from accord.process import bubblewrap, sockets
from accord.process.programs import find_program

from .conftest import Harness, ToolHarness
from .test_background import id_in


def find_problem() -> str | None:
    """Find out why sandboxes don't work on this machine."""
    program = find_program("bwrap")
    if program is None:
        return "bwrap isn't installed"
    words = [*bubblewrap.mount_words(()), *bubblewrap.strict_isolation(network=False)]
    return bubblewrap.probe(program, words) or None


pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap needs Linux"),
    needs(find_problem() if sys.platform == "linux" else None),
]


class Sandboxed:
    """A session whose commands run in the sandbox, and what the user was asked."""

    def __init__(self, tools: ToolHarness, asked: list[PermissionRequest]) -> None:
        self.tools = tools
        self.asked = asked

    async def run(self, command: str, **arguments: Any) -> str:
        """Run a command that must not need permission."""
        result = await self.tools.use("run_command", command=command, **arguments)
        assert [request.title for request in self.asked] == []
        return result.text

    async def script(self, text: str) -> str:
        """Run a script, so that the command line names none of the files."""
        self.tools.write("attack.sh", text)
        return await self.run("sh attack.sh")

    async def python(self, code: str) -> str:
        return await self.run(shlex.join([sys.executable, "-c", code]))


Start = Callable[..., AbstractAsyncContextManager[Sandboxed]]


@pytest.fixture
def version() -> int:
    return 2


@pytest.fixture
def start(harness: Harness) -> Start:
    @asynccontextmanager
    async def opened(
        *, rules: tuple[Rule, ...] = (), answer: bool = False, **settings: Any
    ) -> AsyncIterator[Sandboxed]:
        asked: list[PermissionRequest] = []

        def permissions(request: PermissionRequest) -> bool:
            asked.append(request)
            return answer

        async with harness(rules=rules, permissions=permissions) as tools:
            await tools.call("list_files")
            tools.state.settings = CoderSettings(sandbox=SandboxEntry(mode="on", **settings))
            yield Sandboxed(tools, asked)

    return opened


async def test_a_command_writes_to_the_project_without_asking(start: Start) -> None:
    async with start() as box:
        assert await box.run("echo hi > a.txt; cat a.txt; pwd") == f"[exit 0]\nhi\n{box.tools.project}\n"
        assert box.tools.text("a.txt") == "hi\n"
        assert box.tools.shown.title.endswith("(in the sandbox)")
        assert box.tools.shown.raw_output["sandboxed"] is True


async def test_nothing_else_can_be_written(start: Start, project: Path, home: Path) -> None:
    outside = project.parent / "other"
    async with start() as box:
        (project / "out").symlink_to(outside)
        targets = [outside, "out", home, "/etc", "/usr", "/var", "/sys/kernel"]
        for target in targets:
            await box.run(f"echo x > {target}/made; mkdir {target}/made-too; rm -f {target}/secret.txt")
        assert sorted(os.listdir(outside)) == ["secret.txt"]
        assert not [each for each in (home, "/etc", "/usr", "/var") if Path(each, "made").exists()]
        # Only look: if the sandbox is broken, a test must not change the kernel's settings or reboot the machine.
        for name in ("sys/kernel/core_pattern", "sys/kernel/modprobe", "sysrq-trigger"):
            assert "exit 0" not in await box.run(f"[ -w /proc/{name} ]")


async def test_the_temporary_directory_is_private_and_lasts_as_long_as_the_session(start: Start) -> None:
    async with start() as box:
        name = f"made-{os.getpid()}"
        await box.run(f"echo x > /tmp/{name}; echo y > $TMPDIR/{name}-too")
        assert await box.run(f"cat /tmp/{name} /tmp/{name}-too") == "[exit 0]\nx\ny\n"
        assert not Path("/tmp", name).exists()
        temporary = box.tools.state.sandbox._temporary
        assert temporary is not None and Path(temporary).stat().st_mode & 0o777 == 0o700
    assert not Path(temporary).exists()


async def test_secrets_and_other_projects_cannot_be_read(start: Start, project: Path, home: Path) -> None:
    for name in (".ssh/id_ed25519", ".config/accord/credentials", "data/accord/sessions.db", "notes.txt", ".netrc"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("the secret\n")
    (home / ".cargo").mkdir()
    (home / ".cargo" / "credentials.toml").write_text("the secret\n")
    (home / ".cargo" / "config.toml").write_text("visible\n")
    (project / "link").symlink_to(home / ".ssh")
    async with start() as box:
        line = f"cat {home}/.ssh/* {home}/.config/accord/* {home}/data/accord/* {home}/*.txt {home}/.netrc link/*"
        output = await box.run(f"{line} {home}/.cargo/* {project.parent}/other/* /etc/*shadow* /proc/1/environ 2>&1")
        assert "the secret" not in output and "root:" not in output
        assert "visible" in output, "tools can read their configuration"


async def test_protected_files_stay_as_they_are(start: Start, project: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    for name in ("AGENTS.md", ".envrc", "sub/.vscode/tasks.json", ".venv/bin/python", "node_modules/.bin/tool"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("mine\n")
    config = (project / ".git" / "config").read_text()
    attack = (
        "import os, shutil\n"
        "def attempt(f, *a):\n"
        "    try: f(*a)\n"
        "    except OSError: pass\n"
        "D = '.' + 'git'\n"
        "for name in (D + '/config', D + '/hooks/pre-commit', 'AGENTS' + '.md', '.en' + 'vrc',\n"
        "             'sub/.vs' + 'code/tasks.json',\n"
        "             '.ve' + 'nv/bin/python', 'node_modules/.b' + 'in/tool', 'node_modules/.b' + 'in/new'):\n"
        "    attempt(lambda: open(name, 'w').write('attack'))\n"
        "    attempt(os.unlink, name)\n"
        "    attempt(os.rename, name, 'moved')\n"
        "    attempt(os.link, name, 'linked')\n"
        "    attempt(os.chmod, name, 0o777)\n"
        "attempt(os.rename, D, 'moved-git')\n"
        "attempt(shutil.rmtree, D)\n"
    )
    (project / "attack.py").write_text(attack)
    async with start() as box:
        await box.run(f"{sys.executable} attack.py")
        assert (project / ".git" / "config").read_text() == config
        assert not (project / ".git" / "hooks" / "pre-commit").exists()
        for name in ("AGENTS.md", ".envrc", "sub/.vscode/tasks.json", ".venv/bin/python", "node_modules/.bin/tool"):
            assert (project / name).read_text() == "mine\n"
        assert sorted(os.listdir(project / "node_modules" / ".bin")) == ["tool"]


async def test_targets_of_protected_links_stay_as_they_are(start: Start, project: Path) -> None:
    for name in ("docs/guide.md", "shared/tasks.json", "ci/workflows/a.yml", "ci/free"):
        (project / name).parent.mkdir(exist_ok=True, parents=True)
        (project / name).write_text("mine\n")
    for link, target in (("AGENTS.md", "docs/guide.md"), (".vscode", "shared"), (".github", "ci")):
        (project / link).symlink_to(target)
    async with start() as box:
        for name in ("docs/guide.md", "shared/tasks.json", "ci/workflows/a.yml", "ci/free"):
            await box.run(f"echo attack > {name}")
        for name in ("docs/guide.md", "shared/tasks.json", "ci/workflows/a.yml"):
            assert (project / name).read_text() == "mine\n"
        assert (project / "ci" / "free").read_text() == "attack\n"


async def test_hooks_and_settings_that_git_takes_from_the_project_stay_as_they_are(start: Start, project: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    subprocess.run(["git", "config", "core.hooksPath", "build/hooks"], cwd=project, check=True)
    subprocess.run(["git", "config", "include.path", "../team.config"], cwd=project, check=True)
    (project / "team.config").write_text("mine\n")
    async with start() as box:
        await box.script("echo '[core] fsmonitor = ./x' > team.config")
        assert (project / "team.config").read_text() == "mine\n"
        (project / "attack.sh").write_text("mkdir -p build/hooks; echo attack > build/hooks/pre-commit")
        await box.tools.use("run_command", command="sh attack.sh")
        assert [request.title for request in box.asked] == [
            "Keep protected files that the command created: build/hooks"
        ]
        assert not (project / "build" / "hooks").exists()
        (project / "build" / "hooks").mkdir()
        await box.tools.use("run_command", command="sh attack.sh")
        assert os.listdir(project / "build" / "hooks") == []


async def test_programs_on_the_path_cannot_be_replaced(
    start: Start, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    (project / "bin").mkdir()
    monkeypatch.setenv("PATH", os.pathsep.join([str(project / "bin"), os.environ["PATH"]]))
    attack = f"#!/bin/sh\ntouch {project.parent}/attacked\n"
    async with start() as box:
        await box.script(f"echo {shlex.quote(attack)} > bin/git; chmod +x bin/git")
        assert os.listdir(project / "bin") == []
        for name in ("git", "rg", "bwrap"):  # even one that a repository brings along isn't run by the agent itself
            (project / "bin" / name).write_text(attack)
            (project / "bin" / name).chmod(0o755)
        assert "?? bin/git" in await box.tools.call("show_changes")
        await box.tools.call("search", pattern="x")
        await box.run("echo still in the sandbox")
    assert not (project.parent / "attacked").exists()


async def test_a_link_cannot_have_other_files_renamed(start: Start, project: Path) -> None:
    (project / "src").mkdir()
    (project / "src" / "main.py").write_text("mine\n")
    async with start() as box:
        line = "n=AGENTS; ln -s src $n.md; mkdir sub; cd sub; git init -q; git config core.hooksPath ../src"
        await box.tools.use("run_command", command=line)
        assert len(box.asked) == 1
    assert (project / "src" / "main.py").read_text() == "mine\n"


async def test_mounts_cannot_be_removed(start: Start, project: Path) -> None:
    (project / ".envrc").write_text("mine\n")
    name = "$(printf .en)vrc"
    async with start() as box:
        for line in (
            f"umount {name}; echo attack > {name}",
            f"mount -o remount,rw,bind {name}; echo attack > {name}",
            f"unshare -Urm sh -c 'umount -l {name}; mount -o remount,rw,bind {name}; echo attack > {name}'",
            f"unshare -Urm sh -c 'mkdir d; mount --bind . d && echo attack > d/{name}'",
            "unshare -Urm sh -c 'umount -l /run; umount -l /tmp; ls /run/*.sock'",
        ):
            await box.run(line)
        assert (project / ".envrc").read_text() == "mine\n"


@pytest.mark.parametrize("answer", [False, True])
async def test_new_protected_files_are_renamed_unless_the_user_keeps_them(
    start: Start, project: Path, answer: bool
) -> None:
    async with start(answer=answer) as box:
        result = await box.tools.use("run_command", command="mkdir sub; echo x > sub/$(printf .en)vrc; echo y > plain")
        assert len(box.asked) == 1, result.text
        (request,) = box.asked
        assert request.title == "Keep protected files that the command created: sub/.envrc"
        assert (project / "sub" / ".envrc").exists() is answer
        assert (project / "plain").exists()
        renamed = [each.read_text() for each in (project / "sub").glob("removed-*-.envrc")]
        assert renamed == ([] if answer else ["x\n"]), "nothing is deleted"
        assert ("were renamed" in result.text) is not answer


async def test_a_protected_name_that_is_a_link_cannot_be_replaced(start: Start, project: Path) -> None:
    (project / "target").write_text("mine\n")
    (project / "AGENTS.md").symlink_to("target")
    async with start() as box:
        await box.tools.use("run_command", command="x=AGENTS; rm $x.md; echo attack > $x.md")
        assert len(box.asked) == 1
        assert not (project / "AGENTS.md").exists() and len(list(project.glob("removed-*-AGENTS.md"))) == 1


async def test_a_project_that_changes_meanwhile_is_not_trusted(start: Start, project: Path) -> None:
    (project / ".envrc").write_text("mine\n")
    async with start() as box:
        sandbox = box.tools.state.sandbox
        command = await sandbox.prepare("echo ran", str(project), SandboxEntry())
        assert not isinstance(command, str)
        (project / ".envrc").unlink()
        (project / ".envrc").symlink_to(project.parent / "other" / "secret.txt")
        done = await asyncio.to_thread(subprocess.run, command.argv, capture_output=True, text=True)
        assert done.returncode != 0 and "ran" not in done.stdout


async def test_rules_about_files_apply(start: Start, project: Path) -> None:
    for name in ("private/key", "docs/a", "free"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("text of " + name + "\n")
    rules = (
        Rule(effect="deny", path=("private/**",)),
        Rule(effect="ask", path=("docs/**",), access="write"),
        Rule(effect="deny", path=(f"{project.parent}/other/**",)),
    )
    async with start(rules=rules) as box:
        code = (
            "import pathlib, shutil\n"
            "for path in ('private/key', 'free', 'docs/a', '../other/secret.txt'):\n"
            "    try: print(pathlib.Path(path).read_text())\n"
            "    except OSError as error: print(error)\n"
            "pathlib.Path('docs/a').write_text('attack')\n"
        )
        (project / "look.py").write_text(code)
        output = await box.run(f"{sys.executable} look.py")
        assert "text of free" in output and "text of docs/a" in output
        assert "text of private" not in output and "secret" not in output.replace("secret.txt", "")
        assert (project / "docs" / "a").read_text() == "text of docs/a\n"


async def test_rules_about_commands_apply(start: Start) -> None:
    rules = (Rule(effect="deny", command=("rm *",)), Rule(effect="ask", command=("make *",)))
    async with start(rules=rules) as box:
        assert "not allowed" in await box.tools.call_failing("run_command", command="rm a")
        assert box.asked == []
        await box.tools.call_failing("run_command", command="make it")
        assert len(box.asked) == 1
        await box.tools.call_failing("run_command", command="$(echo r)m a")
        assert len(box.asked) == 2, "only the shell knows whether the rule applies"


async def test_there_is_no_network_and_no_socket_of_another_program(start: Start, project: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX) as named,
    ):
        abstract.bind(f"\0accord-test-{os.getpid()}")
        named.bind(str(project / "agent.sock"))
        abstract.listen()
        named.listen()
        code = (
            "import socket\n"
            "def attempt(kind, address):\n"
            "    try: socket.socket(kind).connect(address); print('CONNECTED', address)\n"
            "    except OSError as error: print(error)\n"
            f"attempt(socket.AF_INET, ('127.0.0.1', {server.getsockname()[1]}))\n"
            "attempt(socket.AF_INET, ('192.0.2.1', 80))\n"
            f"attempt(socket.AF_UNIX, {abstract.getsockname().decode()!r})\n"
            f"attempt(socket.AF_UNIX, {named.getsockname()!r})\n"
        )
        (project / "attack.py").write_text(code)
        async with start() as box:
            assert "CONNECTED" not in await box.run(f"{sys.executable} attack.py")
            assert "empty" in await box.run('[ -z "$(ls -A /run)" ] && echo empty')


async def test_sockets_of_another_network_namespace_are_hidden(
    start: Start, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container is given sockets of its host, which `/proc/net/unix` doesn't list."""
    with socket.socket(socket.AF_UNIX) as docker, socket.socket(socket.AF_UNIX) as agent:
        for listener, name in ((docker, "docker.sock"), (agent, "ssh agent")):
            listener.bind(str(project / name))
            listener.listen()
        monkeypatch.setattr(sockets, "_find_listening", lambda: ())
        monkeypatch.setattr(sockets, "_find_mount_points", lambda: [str(project), str(project / "ssh agent")])
        monkeypatch.setenv("CONTAINER_HOST", f"unix://{project}/docker.sock")
        code = (
            "import socket\n"
            "for name in ('docker.sock', 'ssh agent'):\n"
            "    try: socket.socket(socket.AF_UNIX).connect(name); print('CONNECTED', name)\n"
            "    except OSError as error: print(error)\n"
        )
        async with start() as box:
            assert "CONNECTED" not in await box.python(code)


def test_mounts_are_read_from_the_kernel() -> None:
    assert "/proc" in set(sockets._find_mount_points())


@pytest.mark.skipif(os.uname().machine not in ("x86_64", "aarch64"), reason="there is a filter for these only")
@pytest.mark.parametrize("network", [False, True])
async def test_only_sockets_of_the_namespaces_can_be_opened(start: Start, network: bool) -> None:
    """A VSOCK socket reaches the host of a virtual machine without a network, io_uring opens sockets unseen."""
    code = (
        "import ctypes, os, socket\n"
        "for family in (40, 38, 31):  # AF_VSOCK, AF_ALG, AF_BLUETOOTH\n"
        "    try: socket.socket(family, socket.SOCK_STREAM); print('OPENED', family)\n"
        "    except OSError as error: print(error.errno == 97)\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "for number in (425, 250 if os.uname().machine == 'x86_64' else 219):\n"
        "    print(libc.syscall(number, 1, 0) == -1 and ctypes.get_errno() == 1)\n"
        "for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6):\n"
        "    socket.socket(family).close()\n"
        "first, second = socket.socketpair()\n"
        "print(len(os.listdir('/proc/self/fd')))\n"
    )
    async with start(network=network) as box:
        assert await box.python(code) == "[exit 0]\n" + "True\n" * 5 + "6\n", "and the filter's file is closed"


async def test_the_network_can_be_allowed(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]})); print('CONNECTED')"
        async with start(network=True) as box:
            assert "CONNECTED" in await box.python(code)


async def test_other_directories_can_be_made_writable(start: Start, project: Path) -> None:
    other = project.parent / "other"
    (other / ".git").mkdir()
    async with start(writable=[str(other), str(project.parent / "missing")]) as box:
        await box.run("echo x > ../other/made")
        (project / "attack.sh").write_text("echo attack > ../other/.git/config\n")
        await box.run("sh attack.sh")
        assert not (other / ".git" / "config").exists(), "protected files are protected there, too"
        assert (project.parent / "other" / "made").read_text() == "x\n"


async def test_other_processes_and_the_terminal_are_out_of_reach(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/bus")
    async with start() as box:
        assert "exit 0" not in await box.run(f"kill -0 {os.getpid()}")
        assert "exit 0" not in await box.run(f"ls /proc/{os.getpid()}/root/")
        assert int((await box.run("ls -d /proc/[0-9]* | wc -l")).split()[-1]) < 10
        assert "exit 0" not in await box.run("cat < /dev/tty")
        code = "import fcntl, os, termios; fcntl.ioctl(os.open('/dev/tty', os.O_RDWR), termios.TIOCSTI, b'x')"
        assert "exit 0" not in await box.python(code)
        status = await box.run("grep -E 'NoNewPrivs|CapEff|CapPrm|CapBnd' /proc/self/status")
        assert "NoNewPrivs:\t1" in status
        assert "CapEff:\t0000000000000000" in status and "CapPrm:\t0000000000000000" in status
        assert "[]" in await box.run('echo "[$SSH_AUTH_SOCK$DBUS_SESSION_BUS_ADDRESS$DISPLAY$DOCKER_HOST]"')


async def test_no_process_stays_behind(start: Start, project: Path) -> None:
    async with start() as box:
        marker = f"accord-test-{os.getpid()}"
        await box.run(f"for i in 1 2; do (setsid env -i sleep 98765 {marker} || setsid sleep 98765) & done; sleep 0.1")
        await until(lambda: not _processes("98765"))


def _processes(word: str) -> list[str]:
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = each.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:1] == [b"sleep"] and word.encode() in words:
            found.append(each.parent.name)
    return found


async def test_a_failure_because_of_the_sandbox_is_explained(start: Start) -> None:
    async with start() as box:
        text = await box.run("echo x > /etc/made")
        assert "outside_sandbox=true" in text and "writable" in text
        assert "no network" in await box.run("echo 'Could not resolve host: example.com'; exit 6")
        assert await box.run("exit 3") == "[exit 3; in the sandbox]\n[nothing was printed]"


async def test_outside_the_sandbox_the_user_is_asked(start: Start, project: Path) -> None:
    async with start(answer=True) as box:
        outside = project.parent / "other" / "made"
        result = await box.tools.use(
            "run_command", command=f"touch {outside}", outside_sandbox=True, reason="it belongs there"
        )
        assert result.text.startswith("[exit 0]") and outside.exists()
        (request,) = box.asked
        title = request.tool_call.title if request.tool_call is not None else request.title
        assert title.endswith("(outside the sandbox: it belongs there)")


async def test_a_command_that_needs_permission_runs_outside_the_sandbox_once_allowed(
    start: Start, project: Path
) -> None:
    (project / "AGENTS.md").write_text("old\n")
    async with start(answer=True) as box:
        assert (await box.tools.use("run_command", command="echo new > AGENTS.md")).text.startswith("[exit 0]")
        assert len(box.asked) == 1 and (project / "AGENTS.md").read_text() == "new\n"


async def test_background_commands_run_in_the_sandbox_too(start: Start, project: Path) -> None:
    async with start() as box:
        os.mkfifo(project / "fifo")
        text = await box.run("echo up; read line < fifo; echo x > $(printf .en)vrc", background=True)
        id = id_in(text)
        await asyncio.to_thread((project / "fifo").write_text, "go\n")
        await box.tools.use("read_output", id=id, wait_seconds=300)
        await until(lambda: bool(list(project.glob("removed-*-.envrc"))))
        commands: BackgroundCommands = box.tools.state.background
        await until(lambda: bool(commands.notes))
        assert "removed" in commands.take_ended()


async def test_a_background_command_is_inspected_while_it_runs(start: Start, project: Path) -> None:
    (project / "serve.sh").write_text("mkdir .vscode; echo x > .vscode/tasks.json; echo ready; sleep 1000\n")
    async with start() as box:
        text = (await box.tools.use("run_command", command="sh serve.sh", background=True)).text
        await box.tools.use("read_output", id=id_in(text), wait_for="ready", timeout=30)
        assert [request.title for request in box.asked] == ["Keep protected files that the command created: .vscode"]
        assert not (project / ".vscode").exists()
        box.asked.clear()
        await box.tools.call("list_files")
        assert box.asked == []


async def test_a_command_outside_the_sandbox_finds_no_protected_file_of_one_in_the_background(
    start: Start, project: Path
) -> None:
    os.mkfifo(project / "fifo")
    (project / "serve.sh").write_text("read line < fifo; mkdir .vscode; echo x > .vscode/a; touch made; sleep 1000\n")
    async with start(rules=(Rule(effect="allow", command=("ls -A",)),)) as box:
        await box.run("sh serve.sh", background=True)
        await asyncio.to_thread((project / "fifo").write_text, "go\n")  # between two steps, while the model thinks
        await until((project / "made").exists)
        listed = (await box.tools.use("run_command", command="ls -A")).text.split()
        assert "made" in listed and ".vscode" not in listed
        assert "(in the sandbox)" not in (box.tools.shown.title or "")


@pytest.mark.parametrize("name", ["AGENTS.md", ".github/workflows/ci.yml"])
async def test_files_written_with_permission_stay_although_a_background_command_runs(
    start: Start, project: Path, name: str
) -> None:
    async with start(answer=True) as box:
        (project / "AGENTS.md").write_text("old\n")
        await box.tools.use("read_file", path="AGENTS.md")
        await box.tools.call("run_command", command="sleep 1000", background=True)
        await box.tools.call("write_file", path=name, content="wanted\n")
        assert len(box.asked) == 1
    assert (project / name).read_text() == "wanted\n", "closing the session renames nothing"


async def test_a_background_command_cannot_change_files_written_with_permission(start: Start, project: Path) -> None:
    (project / "AGENTS.md").write_text("old\n")
    attack = "until grep -q wanted AGENTS.md; do sleep 0.1; done; echo attack > AGENTS.md; echo done; sleep 1000\n"
    (project / "attack.sh").write_text(attack)
    async with start(answer=True) as box:
        await box.tools.use("read_file", path="AGENTS.md")
        text = await box.tools.call("run_command", command="sh attack.sh", background=True)
        # A file that replaces a protected one isn't covered by the mount any more.
        await box.tools.call("write_file", path="AGENTS.md", content="wanted\n")
        await box.tools.call("read_output", id=id_in(text), wait_for="done", timeout=30)
        assert "Keep protected files that the command created: AGENTS.md" in [each.title for each in box.asked]


async def test_commands_that_may_read_without_asking_are_confined_beside_others(start: Start, project: Path) -> None:
    """A command in the background could replace the file with a link after the decision."""
    (project / "a.txt").write_text("mine\n")
    async with start() as box:
        box.tools.state.policy = Policy(project, agent="accord", reading_commands=True)
        assert "mine" in await box.run("cat a.txt")
        assert "(in the sandbox)" not in (box.tools.shown.title or "")
        await box.run("sleep 1000", background=True)
        assert "mine" in await box.run("cat a.txt", outside_sandbox=True)
        assert "(in the sandbox)" in (box.tools.shown.title or "")


async def test_git_reads_no_file_outside_the_sandbox_beside_a_command_in_it(start: Start, project: Path) -> None:
    """A command in the background could replace the file with a link while Git reads it."""
    (project / "a.txt").write_text("mine\n")
    for words in ("init -q", "add a.txt"):
        subprocess.run(["git", *words.split()], cwd=project, check=True)
    async with start() as box:
        assert "+mine" in await box.tools.call("show_changes")
        id = id_in(await box.run("sleep 1000", background=True))
        beside = await box.tools.call("show_changes")
        assert "A  a.txt" in beside and "+mine" not in beside and "no diff" in beside
        await box.tools.call("stop_command", id=id)
        assert "+mine" in await box.tools.call("show_changes")


async def test_the_user_is_asked_once_about_files_to_keep(start: Start, project: Path) -> None:
    (project / "serve.sh").write_text("mkdir .vscode; echo x > .vscode/a; echo x > .envrc; echo ready; sleep 1000\n")
    async with start(answer=True) as box:
        text = await box.tools.call("run_command", command="sh serve.sh", background=True)
        await box.tools.call("read_output", id=id_in(text), wait_for="ready", timeout=30)
        await box.tools.call("list_files")
        assert len(box.asked) == 1
    assert sorted(os.listdir(project)) == [".envrc", ".vscode", "serve.sh"]


async def test_the_mode_and_the_setting_decide(start: Start) -> None:
    async with start() as box:
        for mode, setting, asks in (
            ("ask", "on", False),
            ("ask", "auto", True),
            ("ask", "off", True),
            ("code", "on", False),
            ("code", "auto", False),
            ("code", "off", True),
        ):
            box.asked.clear()
            await box.tools.session.set_mode(mode)
            box.tools.state.settings = CoderSettings(sandbox=SandboxEntry(mode=setting))  # type: ignore[arg-type]
            await box.tools.use("run_command", command="touch a")
            assert bool(box.asked) is asks, (mode, setting)


async def test_a_project_that_contains_the_home_directory_is_asked_about(
    start: Start, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project / "sub"))
    async with start() as box:
        await box.tools.use("run_command", command="touch a")
        assert len(box.asked) == 1


@pytest.mark.parametrize("way", ["cancel", "stop", "close"])
async def test_a_command_that_does_not_end_by_itself_leaves_no_protected_file(
    start: Start, project: Path, way: str
) -> None:
    async with start() as box:
        line = "until [ -e go ]; do sleep 0.05; done; echo x > $(printf .en)vrc; touch made; exec sleep 1000"
        if way == "cancel":
            (project / "go").touch()
            box.tools.start_of("run_command", {"command": line})
            running = asyncio.ensure_future(box.tools.session.prompt("go"))
            await until((project / "made").exists)
            await box.tools.session.cancel()
            await running
        else:
            id = id_in(await box.run(line, background=True))
            (project / "go").touch()
            await until((project / "made").exists)
            if way == "stop":
                await box.tools.use("stop_command", id=id)
        if way != "close":
            await until(lambda: bool(list(project.glob("removed-*-.envrc"))))
    assert not (project / ".envrc").exists()
    assert [each.read_text() for each in project.glob("removed-*-.envrc")] == ["x\n"], "nothing is deleted"


async def test_many_files_do_not_hide_a_protected_one(
    start: Start, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confinement, "MAX_ENTRIES", 50)
    monkeypatch.setattr(confinement, "MAX_FOUND", 5)
    async with start() as box:
        line = "for i in $(seq 60); do mkdir d$i; touch d$i/.en''v; done; echo x > $(printf .en)vrc"
        await box.tools.use("run_command", command=line)
        (request,) = box.asked
        assert request.title is not None and request.title.endswith(" and 51 more")
        assert not list(project.glob("**/.env*"))


async def test_renaming_a_directory_does_not_get_around_a_rule(start: Start, project: Path) -> None:
    for name in ("certificates/private/a.txt", "settings/production/a.txt"):
        (project / name).parent.mkdir(parents=True)
        (project / name).write_text("mine\n")
    rules = (
        Rule(effect="deny", path=("certificates/private/**",), access="read"),
        Rule(effect="deny", path=("settings/production/**",), access="write"),
    )
    async with start(rules=rules) as box:
        await box.python("import os\nfor a in os.listdir():\n    try: os.rename(a, a + '-2')\n    except OSError: pass")
        assert "mine" not in await box.python("import glob; print(*map(open, glob.glob('cert*/*/*')))")
        await box.python("import glob\nfor a in glob.glob('sett*/*/*'): open(a, 'w').write('attack')")
    assert (project / "certificates/private/a.txt").read_text() == "mine\n"
    assert (project / "settings/production/a.txt").read_text() == "mine\n"


async def test_the_user_is_not_asked_to_keep_a_file_that_a_rule_denies(start: Start, project: Path) -> None:
    async with start(rules=(Rule(effect="deny", path=("generated/**",), access="write"),), answer=True) as box:
        text = await box.python("import os; os.mkdir('generated'); open('generated/a', 'w').write('x')")
        assert "renamed" in text and not (project / "generated" / "a").exists()


async def test_a_repository_without_a_working_tree_is_protected(start: Start, project: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", "mine"], cwd=project, check=True)
    config = (project / "mine" / "config").read_text()
    async with start() as box:
        await box.python("import os; open('mi' + 'ne/config', 'w').write('attack')")
        assert (project / "mine" / "config").read_text() == config
        await box.tools.use("run_command", command="git init -q --bare sub; mkdir objects refs; touch HEAD")
        (request,) = box.asked
        assert request.title == "Keep protected files that the command created: HEAD, sub"
        assert not (project / "sub").exists() and not (project / "HEAD").exists()


@pytest.mark.parametrize("mode", ["555", "444", "311", "000"])
async def test_a_directory_without_rights_does_not_protect_a_new_file(start: Start, project: Path, mode: str) -> None:
    async with start() as box:
        try:
            await box.tools.use("run_command", command=f"mkdir sub; echo x > sub/$(printf .en)vrc; chmod {mode} sub")
            assert len(box.asked) == 1
            assert not os.path.lexists(project / "sub" / ".envrc")
        finally:
            for path in project.iterdir():
                path.chmod(0o700)  # so that it can be removed


async def test_a_command_cannot_hide_the_project_from_the_search(start: Start, project: Path) -> None:
    (project / ".envrc").write_text("mine\n")
    async with start() as box:
        await box.tools.use("run_command", command="mkdir $(printf .vs)code; chmod 311 .")
        assert [request.title for request in box.asked] == ["Keep protected files that the command created: .vscode"]
        assert project.stat().st_mode & 0o700 == 0o700 and not (project / ".vscode").exists()
        await box.tools.use("run_command", command="echo attack > $(printf .en)vrc")
        assert (project / ".envrc").read_text() == "mine\n"
