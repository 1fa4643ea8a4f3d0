"""The sandbox for commands: bubblewrap, with the project writable and the rest read-only or hidden.

Inside, a command

- writes to the session's directories, the directories of the configuration, and a private `/tmp`;
- can't change protected files, nor read files that rules deny or ask about;
- sees no home directory except the tools in it, no `/run` (sockets of Docker, D-Bus, SSH and GPG agents), no other
  processes and no terminal;
- has no network, unless the configuration allows it, and neither VSOCK sockets nor the kernel's keyrings.

Such a command runs on this machine as a child process, even if the client offers terminals: we couldn't know how
the client confines it. A mount over a protected file that doesn't exist yet would create it outside the sandbox too, so
such files are found and renamed after the command."""

from __future__ import annotations

import functools
import glob
import itertools
import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, NamedTuple

from accord.config.directories import config_directory, data_directory
from accord.errors import AccordError, ConfigError
from accord.policy.action import Action
from accord.policy.confinement import Confined, IsProtected, TooLarge, find_confined
from accord.policy.protections import SECRETS
from accord.process import bubblewrap, seccomp
from accord.process.bubblewrap import Mount
from accord.process.programs import find_program
from accord.process.sockets import find_sockets
from accord.process.thread import run_in_thread
from accord.workspace.changes import link_state, read_state
from accord.workspace.command import shell_command
from accord.workspace.place import Place
from accord.workspace.roots import Roots

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.coder.files import ProjectFiles
    from accord.config.settings import SandboxEntry
    from accord.policy.engine import Policy

MAX_SOCKETS = 100
MAX_OWN_FILES = 1_000
"""The most files of a directory that are compared with what the agent wrote."""
TOOLS = (
    *(".local/bin", ".local/lib", ".local/pipx", ".local/share/uv", ".local/share/mise", ".local/share/pnpm"),
    *(
        ".pyenv",
        ".rbenv",
        ".nvm",
        ".asdf",
        ".sdkman",
        ".volta",
        ".fnm",
        ".rustup",
        ".cargo",
        ".go",
        "go",
        ".deno",
        ".bun",
    ),
    *(".m2", ".gradle", ".gem", ".npm", ".juliaup", ".opam", ".ghcup", ".stack", ".nix-profile"),
    *(".cache/pip", ".cache/uv", ".cache/pypoetry", ".cache/go-build", ".cache/pre-commit", ".cache/huggingface"),
    *(".tool-versions", "miniconda3", "anaconda3", ".conda"),
)
"""Tools and caches of the home directory that stay visible, read-only. Everything else in it is hidden."""
MORE_SECRETS = (
    *("~/.m2/settings*.xml", "~/.gradle/gradle.properties", "~/.gem/credentials", "~/.cargo/credentials*"),
    *("~/.local/share/uv/credentials", "~/.cache/huggingface/token", "~/.cache/huggingface/stored_tokens"),
    *("/etc/shadow-", "/etc/gshadow-", "/etc/ssh/ssh_host_*_key", "/etc/ssl/private", "/etc/sudoers.d"),
)
"""Keys and passwords inside those, and those of the system that root could read."""
UNSET = (
    *("DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DOCKER_HOST", "CONTAINER_HOST"),
    *("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "KRB5CCNAME", "TMUX", "TMUX_PANE", "STY"),
)
"""Variables that name sockets and credentials."""
CACHES = {"GOCACHE": "go-build", "UV_CACHE_DIR": "uv", "XDG_CACHE_HOME": "."}
"""Variables for caches that tools must be able to write, with their directories below `/tmp/.cache`."""
NETWORK_SIGNS = (
    *("network is unreachable", "could not resolve", "name resolution", "name or service not known", "enetunreach"),
    *("eai_again", "failed to resolve", "temporary failure", "no address associated", "dns error", "enotfound"),
)
WRITE_SIGNS = ("read-only file system", "erofs")

# Run inside, before the command: the project may have changed since its restricted files were listed. Then a mount
# might cover something else, or show a file that must stay hidden.
_CHECK = """\
count=$1 stat=$2; shift 2
while [ "$count" -gt 0 ]; do
    now=$("$stat" -c %d:%i -- "$1" 2>/dev/null)
    case $2 in
        -*) [ "-$now" != "$2" ] ;;
        *) [ "$now" = "$2" ] && [ ! -w "$1" ] ;;
    esac || { echo "the project changed while the sandbox was created; try again: $1" >&2; exit 125; }
    shift 2; count=$((count - 1))
done
exec "$@"
"""

_OPEN_FILTER = 'exec 9<"$0" && exec "$@"'

Problem = str


class SandboxedCommand(NamedTuple):
    """A command line that runs a command in a sandbox."""

    argv: list[str]
    before: dict[str, Confined]
    """The restricted files of each directory before the command."""


class Sandbox:
    """The sandbox of one session."""

    def __init__(self, session: Session, policy: Policy, files: ProjectFiles) -> None:
        self._session = session
        self._policy = policy
        self._files = files
        self._accepted: dict[str, tuple[int, int]] = {}
        """The directories that the user has accepted, with their device and inode numbers."""
        self._directory = ""
        self._temporary: str | None = None
        files.watch_writes()

    async def find_problem(self, settings: SandboxEntry) -> Problem:
        """Return why commands can't run in a sandbox here; empty if they can."""
        if sys.platform != "linux":
            return "sandboxes need Linux"
        return await run_in_thread(self._find_problem, settings.network)

    def _find_problem(self, network: bool) -> Problem:
        program = find_program("bwrap", outside=self._session.roots)
        if program is None:
            return f"bwrap isn't installed; {bubblewrap.INSTALL}"
        return self._probe(program, network).problem

    def _probe(self, program: str, network: bool) -> _Probed:
        if (program, network) not in _PROBED:
            # The same as for a command, and what it must be able to rely on: a file that can't be written.
            test = [_shell(), "-c", '[ ! -w /etc ] && [ -x "$0" ]', _stat()]
            words = [*bubblewrap.mount_words(()), *bubblewrap.strict_isolation(network=network)]
            found = _Probed("", True)
            for has_filter in (True, False):  # not every kernel has filters
                first, *start = self._start(program, has_filter)
                found = _Probed(bubblewrap.probe(first, [*start, *words], test), has_filter)
                if not found.problem:
                    break
            _PROBED[program, network] = found
        return _PROBED[program, network]

    def _start(self, program: str, has_filter: bool) -> list[str]:
        """Return the start of a command line: bubblewrap, with a filter for system calls if possible."""
        code = seccomp.build_filter() if has_filter else None
        if code is None:
            return [program]
        self._create_temporary()
        path = os.path.join(self._directory, "filter")
        with open(path, "wb") as file:
            file.write(code)
        return [_shell(), "-c", _OPEN_FILTER, path, program, "--seccomp", "9"]

    async def prepare(self, line: str, cwd: str, settings: SandboxEntry) -> SandboxedCommand | Problem:
        """Build the command line for a command, or return why it can't run in a sandbox."""
        return await run_in_thread(self._prepare, line, cwd, settings)

    def _prepare(self, line: str, cwd: str, settings: SandboxEntry) -> SandboxedCommand | Problem:
        program = find_program("bwrap", outside=self._session.roots)
        if program is None:
            return "bwrap isn't installed"
        try:
            before = self.find_restricted()
            mounts = self._mounts(before, settings)
        except TooLarge:
            return "the project has too many files, or too many protected ones"
        except IsProtected:
            return "the project is in a protected directory"
        except OSError as error:
            return f"the project's files can't be listed: {error}"
        except _Impossible as error:
            return str(error)
        words = self._start(program, self._probe(program, settings.network).has_filter)
        words += [*bubblewrap.mount_words(mounts), *bubblewrap.strict_isolation(network=settings.network)]
        for name in UNSET:
            words += ["--unsetenv", name]
        words += ["--setenv", "TMPDIR", "/tmp"]
        for name, directory in CACHES.items():
            words += ["--setenv", name, os.path.normpath(os.path.join("/tmp/.cache", directory))]
        words += ["--chdir", cwd, "--"]
        checks = [
            *(
                (path, f"{device}:{inode}")
                for each in before.values()
                for path, (device, inode) in each.read_only.items()
            ),
            *(
                (path, f"-{device}:{inode}")
                for each in before.values()
                for path, (device, inode) in each.hidden.items()
            ),
        ]
        words += [_shell(), "-c", _CHECK, "sh", str(len(checks)), _stat(), *(word for pair in checks for word in pair)]
        return SandboxedCommand([*words, *shell_command({}), line], before)

    def find_restricted(self) -> dict[str, Confined]:
        """Find the restricted files of each directory of the session. Raises like `find_confined`."""
        return {root: find_confined(root, self._policy) for root in map(os.path.realpath, self._session.roots)}

    # -- Mounts

    def _mounts(self, before: dict[str, Confined], settings: SandboxEntry) -> set[Mount]:
        home = os.path.realpath(os.path.expanduser("~"))
        writable = [*before, *(_expand(path, self._session.cwd) for path in settings.writable)]
        for path in writable:
            if path == "/" or _is_inside(home, path):
                raise _Impossible(f"{path} contains the home directory")
        mounts = {Mount(path, "write") for path in writable if os.path.isdir(path)}
        for each in (*before.values(), *self._find_others(set(writable) - set(before))):
            mounts |= {Mount(path, "read") for path in each.read_only}
            mounts |= {Mount(path, "hide", is_file=not os.path.isdir(path)) for path in each.hidden}
            mounts |= {Mount(path, "write") for path in each.pinned}  # the place of a mount can't be renamed
        temporary = self._create_temporary()
        hidden = [home, "/run", "/var/run", "/home", "/root", *self._secrets(home), *_own_directories()]
        for path in dict.fromkeys(map(os.path.realpath, hidden)):
            if os.path.isdir(path):
                mounts.add(Mount(path, "hide"))
            elif os.path.exists(path):
                mounts.add(Mount(path, "hide", is_file=True))
        for path in ("/tmp", "/var/tmp"):
            if os.path.isdir(path) and path not in writable:
                mounts.add(Mount(path, "write", temporary))
        tools = [path for path in _tools(home) if not any(_is_inside(path, each) for each in writable)]
        mounts |= {Mount(path, "read") for path in tools}
        for path, access in self._policy.restricted_places():
            real = os.path.realpath(path)
            if any(_is_inside(root, real) for root in (*before, "/usr", "/bin", "/lib")):
                raise _Impossible("a rule is about files that every command needs")
            if os.path.exists(real):
                shown: Literal["read", "hide"] = "hide" if access == "read" else "read"
                mounts.add(Mount(real, shown, is_file=not os.path.isdir(real)))
        sockets = [path for path in find_sockets() if _is_visible(path, mounts)]
        if len(sockets) > MAX_SOCKETS:
            raise _Impossible("too many programs listen on sockets")
        return mounts | {Mount(path, "hide", is_file=True) for path in sockets}

    def _find_others(self, directories: Iterable[str]) -> Iterable[Confined]:
        """Find the restricted files of directories that aren't the session's, such as another project.

        Those with too many are caches, or the user knows that they are protected."""
        for path in directories:
            with suppress(TooLarge, IsProtected, OSError):
                yield find_confined(path, self._policy)

    def _secrets(self, home: str) -> list[str]:
        patterns = [
            os.path.join(home, text[2:]) if text.startswith("~/") else text for text in (*SECRETS, *MORE_SECRETS)
        ]
        return [path for text in patterns for path in glob.glob(text.removesuffix("/**"))]

    def _create_temporary(self) -> str:
        """Create the directory that commands see as `/tmp`. Commands of a session share it."""
        if self._temporary is None:
            self._directory = os.path.realpath(tempfile.mkdtemp(prefix="accord-sandbox-"))
            self._temporary = os.path.join(self._directory, "tmp")
            os.mkdir(self._temporary, 0o700)
        return self._temporary

    # -- Afterwards

    async def find_new(self, command: SandboxedCommand) -> list[str]:
        """Return the protected files that appeared or were replaced since a command was prepared.

        Not those that a tool wrote meanwhile with permission, or that the user has accepted."""
        return await run_in_thread(self._find_new, command)

    def _find_new(self, command: SandboxedCommand) -> list[str]:
        found: list[str] = []
        for root, before in command.before.items():
            # A command could take away the right to list its files, or exceed limits, so that nothing is found.
            with suppress(OSError):
                mode = stat.S_IMODE(os.stat(root).st_mode)
                if mode & stat.S_IRWXU != stat.S_IRWXU:
                    os.chmod(root, mode | stat.S_IRWXU)
            with suppress(FileNotFoundError):
                now = find_confined(root, self._policy, before=before).all
                accepted = self._accepted
                changed = [path for path, id in now.items() if id not in (before.all.get(path), accepted.get(path))]
                found += [path for path in changed if not self._is_own(path)]
        return sorted(found)

    def _is_own(self, path: str) -> bool:
        """Return whether a path has nothing but what the agent itself wrote."""
        files = list(itertools.islice(_files_in(path), MAX_OWN_FILES + 1))
        is_small = 0 < len(files) <= MAX_OWN_FILES
        return is_small and all(self._files.written.get(each) == _digest(each) for each in files)

    async def accept(self, paths: Sequence[str]) -> None:
        """Accept protected files as they are: the user wants them."""
        await run_in_thread(self._accept, paths)

    def _accept(self, paths: Sequence[str]) -> None:
        for path in paths:
            with suppress(OSError):
                status = os.lstat(path)
                if stat.S_ISDIR(status.st_mode):
                    self._accepted[path] = (status.st_dev, status.st_ino)
                else:
                    self._files.written[path] = _digest(path)

    def is_denied(self, path: str) -> bool:
        """Return whether a rule denies writing or reading a file, so that not even the user is asked about it."""
        actions = [Action(kind=kind, paths=(path,), project=self._session.cwd) for kind in ("read", "write")]
        return any(self._policy.decide(action).effect == "deny" for action in actions)

    async def disarm(self, command: SandboxedCommand, paths: Sequence[str]) -> list[str]:
        """Rename protected files so that nothing uses them. Nothing is deleted. Return those that remain."""
        return await run_in_thread(self._disarm, command, paths)

    def _disarm(self, command: SandboxedCommand, paths: Sequence[str]) -> list[str]:
        first, *more = command.before
        with Roots(first, more) as roots:  # the session's own may be closed by now
            for path in paths:
                # A link may have taken the place of one of the directories, or the file may be gone.
                with suppress(AccordError, OSError):
                    roots.at(path, functools.partial(_rename, path), follow=False)
        return [path for path in paths if os.path.lexists(path)]

    def close(self) -> None:
        """Remove the temporary directory."""
        if self._temporary is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._temporary = None


def _rename(path: str, place: Place) -> None:
    if place.real != path or not place.name:
        return
    name = f"removed-{secrets.token_hex(3)}-{place.name}"
    try:
        place.directory.rename(place.name, place.directory, name)
    except PermissionError:  # a command can take that right away
        place.directory.make_writable()
        place.directory.rename(place.name, place.directory, name)


class _Impossible(Exception):
    """This project can't be confined."""


class _Probed(NamedTuple):
    """The result of trying to run a command in a sandbox."""

    problem: Problem
    has_filter: bool


_PROBED: dict[tuple[str, bool], _Probed] = {}
"""The results of `_probe`, which takes a moment."""


def explain_failure(output: str) -> str:
    """Explain a failed command's output to the model if the sandbox may be the reason."""
    if output.startswith("bwrap: "):  # a file or socket that it needed has disappeared in the meantime
        return "the sandbox couldn't be created; repeat the call"
    folded = output.casefold()
    if any(sign in folded for sign in NETWORK_SIGNS):
        reason = "it has no network"
    elif any(sign in folded for sign in WRITE_SIGNS):
        reason = "only the project (without protected files such as .git) and /tmp are writable"
    else:
        return "in the sandbox"
    return f"in the sandbox, where {reason}; if it needs more, repeat it with outside_sandbox=true and a reason"


def _shell() -> str:
    return shell_command({})[0]


def _stat() -> str:
    return shutil.which("stat", path=os.defpath) or "/usr/bin/stat"


def _expand(path: str, cwd: str) -> str:
    return os.path.realpath(os.path.join(cwd, os.path.expanduser(path)))


def _is_inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def _files_in(path: str) -> Iterator[str]:
    """Yield the files of a directory, or the path itself if it isn't one."""
    if os.path.islink(path) or not os.path.isdir(path):
        yield path
        return
    for directory, directories, names in os.walk(path):
        links = [name for name in directories if os.path.islink(os.path.join(directory, name))]
        yield from (os.path.join(directory, name) for name in (*names, *links))


def _digest(path: str) -> str:
    """Return the digest of a file or link, as in `State`; empty if it can't be read."""
    with suppress(OSError):
        if os.path.islink(path):
            return link_state(os.readlink(path)).digest
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
        try:
            if stat.S_ISREG(os.fstat(fd).st_mode):
                return read_state(fd, 0).digest
        finally:
            os.close(fd)
    return ""


def _is_visible(path: str, mounts: Iterable[Mount]) -> bool:
    """Return whether a path of this machine can be reached inside."""
    around = [mount for mount in mounts if _is_inside(path, mount.path)]
    innermost = max(around, key=lambda mount: len(mount.path), default=None)
    return innermost is None or (innermost.access != "hide" and not innermost.source)


def _own_directories() -> Iterable[str]:
    with suppress(ConfigError):
        yield str(config_directory())
        yield str(data_directory())


def _tools(home: str) -> list[str]:
    """Return the directories of the home directory that hold programs."""
    found = [os.path.join(home, name) for name in TOOLS]
    found += [entry for entry in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(entry)]
    found += [os.environ.get("VIRTUAL_ENV", ""), sys.prefix, sys.base_prefix]
    real = [os.path.realpath(path) for path in found if path and os.path.exists(path)]
    return [path for path in dict.fromkeys(real) if path != home and _needs_mount(path, home)]


def _needs_mount(path: str, home: str) -> bool:
    hidden: Sequence[str] = (home, "/home", "/root", "/tmp", "/var/tmp", "/run")
    return any(_is_inside(path, each) and path != each for each in hidden)
