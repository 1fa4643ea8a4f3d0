"""accord agents: add, list, install from a registry, pin, update, run and remove agents."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from config.archives import binary, entry, npm_package, registry, sha256, tar, wheel
from support.cli_runner import AGENT, Accord, Here, agent, gone, happens, without_codes
from support.prerequisites import require

SCRIPT = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -S -E {shlex.quote(str(AGENT))} "$@"\n'


def archive(accord: Accord, name: str = "agent") -> Path:
    return tar(accord.folder / f"{name}.tar.gz", ("bin/agent", SCRIPT.encode()))


def test_adding_listing_and_removing_an_agent_preserves_the_rest_of_the_file(accord: Accord, here: Here) -> None:
    text = "# mine\n[permissions]\ndeny = ['path:**/.env']  # keys\n"
    accord.config.write_text(text)
    words = shlex.split(agent())
    done = accord("agents", "add", "tester", "--env", "TOKEN=abcdefgh", "--environment", "minimal", "--", *words)
    assert (done.status, done.err) == (0, f"Added tester in {accord.config}\n")
    assert accord.config.read_text().startswith(text)

    listed = here("agents", "list")
    assert f"* tester    {shlex.join(words)}\n" in listed.out, "the only one is the default"
    row = json.loads(here("agents", "list", "--json").out)["tester"]
    assert (row["command"], row["env"], row["default"]) == (words, {"TOKEN": "••••"}, True)

    assert accord("run", "hello").out == "You said: hello\n"
    environment = json.loads(accord("run", "--agent", "tester", "env", env={"OURS": "1"}).out)
    assert environment["TOKEN"] == "abcdefgh" and "OURS" not in environment

    assert "Replaced" in here("agents", "add", "tester", "--default", "--", "other").err
    assert here("agents", "remove", "testr").err.endswith("'testr'; did you mean tester?\n")
    assert here("agents", "remove", "tester").status == 0
    assert accord.config.read_text() == text


def test_the_built_in_agent_is_listed_when_it_is_the_default(accord: Accord, here: Here) -> None:
    accord.config.write_text('default_agent = "built-in"\n[agents.one]\ncommand = "one"\n')
    assert here("agents", "list").out.startswith("* built-in  (comes with Accord)\n  one       one\n")


@pytest.mark.parametrize(
    "words, said",
    [
        (["add", "a b", "--", "x"], "'a b' isn't a valid agent name: use letters, digits, - and _"),
        (["add", "a"], "pass the agent's command after --, or a registry with --registry"),
        (["add", "a", "--env", "X", "--", "x"], "--env takes NAME=VALUE, not 'X'"),
        (["add", "a", "--registry", "r.json", "--", "x"], "use a command or a registry, not both"),
        (["add", "claude"], "claude is a well-known agent; install it with: accord agents install claude"),
        (["update", "a"], "no registry is configured; use --registry"),
    ],
)
def test_an_invalid_command_changes_nothing(accord: Accord, here: Here, words: list[str], said: str) -> None:
    done = here("agents", *words)
    assert (done.status, done.err.splitlines()[0]) == (2, f"accord agents {words[0]}: {said}")
    assert not accord.config.exists()


def test_a_registry_agent_can_be_installed_pinned_and_updated_and_starts_offline(accord: Accord, here: Here) -> None:
    packed = archive(accord)
    source = accord.folder / "registry.json"
    first = entry("box", "1.0.0", binary=binary(packed.as_uri(), sha256=sha256(packed), args=["--offer", "load"]))
    registry(source, first, {"id": "broken"})
    done = accord("agents", "add", "mine", "--id", "box", "--registry", str(source), "--env", "MINE=1")
    assert (done.status, done.err) == (0, f"downloading…\nunpacking…\nAdded mine in {accord.config}\n")
    packed.unlink()  # from here on there is nothing to fetch
    assert accord("run", "hello").out == "You said: hello\n"
    assert "(box 1.0.0)" in here("agents", "list").out

    newer = archive(accord, "newer")
    registry(source, entry("box", "1.1.0", binary=binary(newer.as_uri())))
    done = here("agents", "update", "mine", "--registry", str(source))
    assert "The registry has no checksum for box 1.1.0, so it can't be verified.\n" in done.err
    assert done.err.endswith("mine: 1.0.0 → 1.1.0\n")
    assert "1.1.0" in accord.config.read_text() and 'env = { MINE = "1" }' in accord.config.read_text()

    assert here("agents", "pin", "mine", "1.0.0").err == "mine: 1.1.0 → 1.0.0\n", "without the registry"
    assert here("agents", "pin", "mine", "1.0.0").err == "mine is already at 1.0.0\n"
    refused = here("agents", "pin", "mine", "2.0.0", "--registry", str(source))
    assert refused.err == f"accord: {source} has box 1.1.0, not 2.0.0 (installed: 1.0.0, 1.1.0)\n"

    shutil.rmtree(accord.cache)
    lost = accord("run", "hello")
    assert lost.status == 1 and "is no longer installed; install it again: accord agents update mine" in lost.err


def test_registry_variables_are_listed_and_loader_variables_are_rejected(accord: Accord, here: Here) -> None:
    packed = archive(accord)
    said = binary(packed.as_uri(), sha256=sha256(packed), env={"NODE_OPTIONS": "--require ./x.js"})
    source = registry(accord.folder / "r.json", entry("box", binary=said))
    done = here("agents", "add", "box", "--registry", str(source))
    assert done.status == 0 and "The registry sets NODE_OPTIONS for box: --require ./x.js\n" in done.err

    loading = binary(packed.as_uri(), sha256=sha256(packed), env={"LD_PRELOAD": "/tmp/x.so"})
    source = registry(accord.folder / "r2.json", entry("bad", binary=loading))
    refused = here("agents", "add", "bad", "--registry", str(source))
    assert refused.status == 1 and "bad was not installed: the registry sets LD_PRELOAD" in refused.err
    assert not (accord.cache / "agents" / "bad").exists()
    run = accord("agents", "add", "bad", "--registry", str(source))
    assert run.status == 1 and "[agents.bad]" not in accord.config.read_text()


def test_an_archive_with_the_wrong_checksum_is_not_installed(accord: Accord, here: Here) -> None:
    packed = archive(accord)
    source = registry(accord.folder / "r.json", entry("box", binary=binary(packed.as_uri(), sha256="0" * 64)))
    done = here("agents", "add", "box", "--registry", str(source))
    assert done.status == 1 and "nothing was installed" in done.err
    assert not accord.config.exists() and list((accord.cache / "agents" / "box").iterdir()) == []
    unknown = here("agents", "add", "bx", "--registry", str(source))
    assert unknown.err == f"accord: {source} has no agent 'bx'; did you mean box?\n"


def test_a_registry_agent_is_installed_on_its_first_run_if_the_user_allows_it(accord: Accord) -> None:
    source = registry(accord.folder / "r.json", entry("box", binary=binary(archive(accord).as_uri())))
    accord.config.write_text(f"registry = '{source}'\n")
    asked = accord("run", "--agent", "box", "hello")
    assert (asked.status, asked.err) == (
        1,
        "accord: box isn't installed; run: accord agents install box (or use --install with run and chat)\n",
    )
    first = accord("run", "--install", "--agent", "box", "hello")
    warning = "The registry has no checksum for box 1.0.0, so it can't be verified.\n"
    assert (first.out, first.err) == ("You said: hello\n", warning + "downloading…\nunpacking…\n")
    again = accord("run", "--agent", "box", "hello")
    assert (again.out, again.err) == ("You said: hello\n", "")


def test_the_user_is_warned_before_agreeing_to_an_install(accord: Accord) -> None:
    unverified = binary(archive(accord).as_uri(), env={"NODE_OPTIONS": "--require ./x.js"})
    source = registry(accord.folder / "r.json", entry("box", binary=unverified))
    accord.config.write_text(f"registry = '{source}'\n")
    screen = accord.on_terminal("run", "--agent", "box", "hello")
    shown = without_codes(screen.answer("Install it? [Y/n]: ", "n"))
    assert "The registry sets NODE_OPTIONS for box: --require ./x.js\n" in shown
    assert "The registry has no checksum for box 1.0.0, so it can't be verified.\n" in shown
    assert screen.end() == 1
    screen.close()
    assert not (accord.cache / "agents").exists()


def test_doctor_installs_nothing_without_being_asked_to(accord: Accord) -> None:
    source = registry(
        accord.folder / "r.json",
        entry("box", binary=binary(archive(accord).as_uri())),
        entry("gone", binary=binary((accord.folder / "none.tgz").as_uri())),
    )
    accord.config.write_text(f"registry = '{source}'\n")
    for name in ("box", "gone"):
        missing = accord("doctor", name)
        assert missing.status == 1 and f"FAIL install: {name} isn't installed; run: accord agents" in missing.out
    assert accord("agents", "install", "box").status == 0
    assert accord("doctor", "box").status == 0
    assert "cannot be fetched" in accord("agents", "install", "gone").err


def test_a_progress_bar_is_shown_during_an_install(accord: Accord) -> None:
    packed = tar(accord.folder / "a.tar.gz", ("bin/agent", SCRIPT.encode()), ("noise", os.urandom(900_000)))
    source = registry(accord.folder / "r.json", entry("box", binary=binary(packed.as_uri())))
    screen = accord.on_terminal("agents", "add", "box", "--registry", str(source))
    assert screen.end() == 0
    assert "\r\x1b[Kdownloading [#######" in screen.seen and "[########################] 100 % of 9" in screen.seen
    before, unpacking, after = screen.seen.rpartition("unpacking…")
    assert unpacking and re.fullmatch(rf"( \d+ s)?\nAdded box in {re.escape(str(accord.config))}\n", after), before
    screen.close()


def test_an_npm_package_is_installed_with_npm(accord: Accord) -> None:
    require(None if shutil.which("npm") else "npm is not installed")
    package = npm_package(accord.folder / "box-1.0.0.tgz", "box-agent", SCRIPT)
    source = registry(accord.folder / "r.json", entry("box", npx={"package": str(package), "args": ["--offer", "x"]}))
    done = accord("agents", "add", "box", "--registry", str(source))
    assert (done.status, done.err.splitlines()[0]) == (0, f"installing {package}…")
    package.unlink()
    assert accord("run", "hello").out == "You said: hello\n"


def test_a_python_package_is_installed_with_pip(accord: Accord) -> None:
    words = ["python", "-S", "-E", str(AGENT)]
    code = f"def main():\n    import os, sys\n    os.execv({sys.executable!r}, {words} + sys.argv[1:])\n"
    package = wheel(accord.folder, "box-agent", code)
    source = registry(accord.folder / "r.json", entry("box", uvx={"package": str(package)}))
    done = accord("agents", "add", "box", "--registry", str(source))
    assert (done.status, done.err.splitlines()[-1]) == (0, f"Added box in {accord.config}")
    package.unlink()
    assert accord("run", "hello").out == "You said: hello\n"


def test_an_install_error_includes_the_installers_last_output(accord: Accord) -> None:
    tools = accord.folder / "tools"
    tools.mkdir()
    npm = tools / "npm"
    npm.write_text("#!/bin/sh\necho 'npm error 404 no such package' >&2\nexit 7\n")
    npm.chmod(0o755)
    source = registry(accord.folder / "r.json", entry("box", npx={"package": "no-such@1.0.0"}))
    done = accord("agents", "add", "box", "--registry", str(source), env={"PATH": f"{tools}:{os.environ['PATH']}"})
    assert done.err.splitlines()[-1] == "accord: npm failed with status 7: npm error 404 no such package"
    assert list((accord.cache / "agents" / "box").iterdir()) == []
    missing = accord("agents", "add", "box", "--registry", str(source), env={"PATH": "/nowhere"})
    assert "box is an npm package: install Node.js (with npm), then try again" in missing.err


def test_ctrl_c_stops_an_install_and_leaves_nothing_behind(accord: Accord) -> None:
    tools = accord.folder / "tools"
    tools.mkdir()
    npm = tools / "npm"
    npm.write_text(f"#!/bin/sh\necho $$ > {accord.folder}/pid\nsleep 600\n")
    npm.chmod(0o755)
    source = registry(accord.folder / "r.json", entry("box", npx={"package": "slow"}))
    environment = {"PATH": f"{tools}:{os.environ['PATH']}"}
    screen = accord.on_terminal("agents", "add", "box", "--registry", str(source), env=environment)
    screen.until("installing slow")
    pid = accord.folder / "pid"
    assert happens(lambda: pid.exists() and pid.read_text().strip() != "")
    screen.press("c")
    assert screen.end() == 130
    assert gone(int(pid.read_text()))
    assert list((accord.cache / "agents" / "box").iterdir()) == []
    screen.close()


def test_agents_run_connects_the_agent_to_standard_input_and_output(accord: Accord) -> None:
    accord.config.write_text(f"[agents.tester]\ncommand = {agent()!r}\n")
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}})
    done = accord("agents", "run", "tester", "--", "--offer", "load", stdin=hello + "\n")
    (answer,) = map(json.loads, done.out.splitlines())
    assert answer["result"]["agentCapabilities"]["loadSession"] is True
    missing = accord("agents", "run", "/no/such/agent")
    assert (missing.status, missing.err) == (
        1,
        "accord: can't start /no/such/agent: /no/such/agent doesn't exist; check the path\n",
    )
