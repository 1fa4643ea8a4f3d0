"""Running things, fetching pages, switching the mode."""

from __future__ import annotations

import re
import shlex

from accord.coder.history import Result
from accord.coder.models.offline import requests as r
from accord.coder.models.offline.answering import counted, fenced, language, named, reading
from accord.coder.models.offline.projects import TELLING, Project, names_of
from accord.coder.models.offline.script import Script, Situation, Stopped, use, want

TASKS = {"test": "the tests", "lint": "the linter", "format": "the formatter", "build": "the build"}
STATUS = re.compile(r"\[(exit (?P<code>-?\d+)|ended by (?P<signal>\w+))?.*?\]\n?")


def run(step: r.Run, situation: Situation) -> Script[str]:
    (result,) = yield from use(situation, f"I run `{_short(step.command)}`.", want("run_command", command=step.command))
    return _told(step.command, result)


def run_file(step: r.RunFile, situation: Situation) -> Script[str]:
    runners = {"py": situation.python, "sh": "sh", "js": "node", "rb": "ruby", "go": "go run", "pl": "perl"}
    runner = runners.get(language(step.path))
    if runner is None:
        raise Stopped(f"I do not know how `{step.path}` is run. Say the whole command: run `…`.")
    return (yield from run(r.Run(command=f"{runner} {shlex.quote(step.path)}"), situation))


def _short(command: str) -> str:
    first, *rest = command.split("\n")
    return first[:100] + (" …" if rest or len(first) > 100 else "")


def _told(command: str, result: Result) -> str:
    """How a command ended, and the end of what it printed. One that failed stops what was to follow."""
    status = STATUS.match(result.text)
    output = result.text[status.end() :] if status else result.text
    output = "" if output.strip() == "[nothing was printed]" else output.strip("\n")
    shown = f":\n\n{fenced(output, most=30, tail=True)}" if output else " and printed nothing."
    if status and status["signal"]:
        raise Stopped(f"`{_short(command)}` was ended by {status['signal']}{shown}")
    if status and status["code"] and status["code"] != "0":
        raise Stopped(f"`{_short(command)}` ended with status {status['code']}{shown}")
    return f"`{_short(command)}` ran{shown}"


def look_at_project(situation: Situation, said: str, *more: str) -> Script[Project]:
    """Reads the files that say how things are done here."""
    (listing,) = yield from use(situation, said, want("list_files", path="."))
    names = names_of(listing.text)
    telling = [name for name in (*TELLING, *more) if name in names]
    texts: dict[str, str] = {}
    if telling:
        results = yield from use(
            situation,
            f"I read {named(telling, 9)}.",
            *(want("read_file", path=name) for name in telling),
            lenient=True,
        )
        texts = {
            name: reading(result.text).text for name, result in zip(telling, results, strict=True) if not result.failed
        }
    return Project(names, texts, situation.python)


def run_task(step: r.RunTask, situation: Situation) -> Script[str]:
    situation.need("run_command", "list_files", "read_file")
    what = TASKS[step.task]
    project = yield from look_at_project(
        situation, f"I look how {what} {'is' if what != 'the tests' else 'are'} run here."
    )
    found = project.command(step.task, step.only)
    if found is None:
        raise Stopped(f"I found no way to run {what} in this project. Say the command: run `…`.")
    command, where = found
    (result,) = yield from use(
        situation, f"By {where}, that is `{command}`.", want("run_command", command=command, timeout=600)
    )
    failures = [] if step.task != "test" else failed_tests(result.text)
    try:
        said = _told(command, result)
    except Stopped as stopped:
        if failures:
            raise Stopped(
                f"{counted(len(failures), 'test')} failed: {named(failures, 10)}.\n\n{stopped.words}"
            ) from None
        raise
    return said


def failed_tests(output: str) -> list[str]:
    """The names of failed tests, as pytest, unittest, cargo and go print them."""
    patterns = (
        r"^FAILED (\S+)",
        r"^(?:FAIL|ERROR): (\w+) \(",
        r"^test (\S+) \.\.\. FAILED",
        r"^\s*--- FAIL: (\S+)",
        r"^ERROR (\S+::\S+|\S+\.py)",
    )
    found = [name for pattern in patterns for name in re.findall(pattern, output[-50_000:], re.MULTILINE)]
    return list(dict.fromkeys(found))


def fetch(step: r.Fetch, situation: Situation) -> Script[str]:
    (result,) = yield from use(situation, f"I fetch {step.url}.", want("fetch_url", url=step.url))
    lines = result.text.strip("\n").count("\n") + 1
    return f"{step.url} gave {counted(lines, 'line')}:\n\n{fenced(result.text)}"


def switch_mode(step: r.SwitchMode, situation: Situation) -> Script[str]:
    (result,) = yield from use(
        situation,
        f"I ask to switch to {step.mode} mode.",
        want("switch_mode", mode=step.mode, reason=f"You asked for {step.mode} mode."),
    )
    text = result.text.strip()
    if re.search(r"still|said no|closed the question", text):
        raise Stopped(text)
    if "already" in text:
        return text
    return f"The mode is {step.mode} now."
