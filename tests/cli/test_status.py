"""accord status: the list for people and programs, and what runs and servers publish."""

from __future__ import annotations

import time
import weakref
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
import pytest
from support.cli_runner import Accord, Here, agent

from accord.cli.status import format_list
from accord.cli.support import served_status
from accord.cli.support.run_status import RunStatus
from accord.cli.support.served_status import ServedStatus
from accord.config.command import built_in
from accord.status.attention_list import AttentionList
from accord.status.entry import SessionStatus
from accord.status.publisher import Publisher


def test_an_empty_list_is_reported(here: Here) -> None:
    done = here("status")
    assert (done.status, done.out) == (0, "No session needs you, and none is running.\n")
    assert here("status", "--json").out == ""


def test_a_run_that_waits_for_a_permission_is_listed_with_its_question(accord: Accord, here: Here) -> None:
    screen = accord.on_terminal("run", "--agent", agent(), "permission make test")
    screen.until("Your choice: ")
    done = here("status", "--json")
    assert done.status == 10
    (line,) = done.lines
    assert (line["state"], line["title"], line["why"]) == ("waiting", "permission make test", "Run make test")
    assert (line["cwd"], line["client"]) == (str(accord.project), "run")
    shown = here("status").out
    assert "waiting" in shown and "Run make test" in shown and line["open_with"] in shown
    screen.type("n")
    screen.until("chosen: no")
    assert screen.end() == 0
    screen.close()
    assert here("status", "--json").lines == [], "its end was seen on the terminal"


def test_a_run_in_a_script_stays_in_the_list_until_it_is_cleared(accord: Accord, here: Here) -> None:
    accord.run("hello")
    assert [line["state"] for line in here("status", "--json").lines] == ["finished"]
    accord.run("fail {}")
    assert [line["state"] for line in here("status", "--json").lines] == ["failed"], "the same session, run again"
    assert here("status", "--clear", "--json").out == ""
    assert here("status", "--json").out == ""


def test_a_run_that_is_not_saved_leaves_the_list_when_it_finishes(accord: Accord, here: Here) -> None:
    assert accord("run", "--no-save", "--agent", "built-in", "help").status == 0
    assert here("status", "--json", "--all").lines == []


def test_a_run_that_is_not_saved_counts_for_the_budget_of_the_built_in_agent(tmp_path: Path) -> None:
    found = built_in()
    status = RunStatus(found._replace(argv=[*found.argv, "--memory"]), None, tmp_path, is_saved=False)
    assert status.agent == "built-in"


def test_the_oldest_of_many_ended_sessions_are_only_counted(accord: Accord, here: Here) -> None:
    AttentionList(accord.data / "status").keep(
        [
            SessionStatus(id=f"s{number}", agent="a", cwd="/", state="finished", title=f"T{number}.", since=time.time())
            for number in range(30)
        ]
    )
    shown = here("status").out
    assert shown.count("finished") == 10 and "… and 20 more that ended (--all lists them" in shown
    assert here("status", "--all").out.count("finished") == 30
    assert len(here("status", "--json").lines) == 30


def test_agents_and_directories_are_below_each_other() -> None:
    sessions = [
        SessionStatus(id="1", agent="claude", cwd="/shop", state="waiting", title="Release", since=1.0),
        SessionStatus(id="2", agent="built-in", cwd="/blog", state="running", title="検索 it", since=1.0),
        SessionStatus(id="3", agent="pi", cwd="/long", state="running", title="x" * 50, since=1.0),
    ]
    rows = [line for line in format_list(sessions, 1.0) if " now " in line]
    assert [click.unstyle(row) for row in rows] == [
        f"waiting       now  {'Release':40}  claude    /shop",
        f"running       now  検索 it{' ' * 33}  built-in  /blog",
        f"running       now  {'x' * 50}  pi        /long",
    ]


def test_an_open_session_without_work_is_listed_only_on_request(accord: Accord, here: Here) -> None:
    publisher = Publisher(accord.data / "status")
    publisher.publish([SessionStatus(id="s", agent="a", cwd="/", state="idle")])
    assert here("status", "--json").lines == []
    assert [line["id"] for line in here("status", "--json", "--all").lines] == ["s"]
    publisher.close()


def test_watching_updates_the_list_in_place(accord: Accord) -> None:
    publisher = Publisher(accord.data / "status")
    screen = accord.on_terminal("status", "--watch")
    screen.until("No session needs you")
    publisher.publish([SessionStatus(id="s", agent="a", cwd="/", state="running", title="Fix it")])
    assert "\x1b[J" in screen.until("Fix it")
    screen.press("c")
    assert screen.end() == 0
    publisher.close()
    screen.close()


class FakeView(msgspec.Struct, kw_only=True):
    """A session of the hub."""

    id: str
    cwd: str
    title: str
    is_busy: bool
    is_asking: bool
    clients: dict[str, str]


class FakeHub:
    def __init__(self) -> None:
        self.sessions: list[FakeView] = []

    def set(self, *, is_busy: bool = False, is_asking: bool = False, clients: tuple[str, ...] = ()) -> None:
        roles = dict.fromkeys(clients, "driver")
        self.sessions = [FakeView(id="s", cwd="/", title="T", is_busy=is_busy, is_asking=is_asking, clients=roles)]

    def iterate_sessions(self) -> Iterator[FakeView]:
        return iter(self.sessions)


def test_a_served_turn_that_ends_without_a_client_is_finished_until_one_attaches(accord: Accord) -> None:
    hub, found = FakeHub(), AttentionList(accord.data / "status")
    publisher = Publisher(found.directory)
    status = ServedStatus(hub, "claude", publisher)  # type: ignore[arg-type]
    states = []
    for change in (
        {},
        {"is_busy": True},
        {"is_busy": True, "is_asking": True},
        {},
        {"clients": ("me",)},
        {},
    ):
        hub.set(**change)  # type: ignore[arg-type]
        status.publish()
        states.append(found.read()[0].state)
    assert states == ["idle", "running", "waiting", "finished", "idle", "idle"]
    publisher.close()


def test_served_sessions_that_need_the_user_are_listed_among_many(
    accord: Accord, monkeypatch: pytest.MonkeyPatch
) -> None:
    described: list[str] = []

    def count(text: str) -> str:
        described.append(text)
        return text

    monkeypatch.setattr(served_status, "describe", count)
    hub, found = FakeHub(), AttentionList(accord.data / "status")
    publisher = Publisher(found.directory)
    status = ServedStatus(hub, "claude", publisher)  # type: ignore[arg-type]
    hub.set(is_busy=True, is_asking=True)
    waiting = msgspec.structs.replace(hub.sessions[0], id="waiting")
    hub.set()
    idle = [msgspec.structs.replace(hub.sessions[0], id=f"idle {number}", title="idle") for number in range(200)]
    hub.sessions = [*idle, waiting]
    status.publish()
    status.publish()
    listed = found.read()
    assert (listed[0].id, listed[0].state) == ("waiting", "waiting")
    assert 1 < len(listed) < 200
    assert sorted(described) == ["T", "claude", "idle"], "each text is described once"
    publisher.close()


def test_publishing_many_served_sessions_keeps_only_those_that_are_listed(accord: Accord) -> None:
    """Thousands of new objects every second would start the garbage collector, which delays all clients."""
    alive, most = set[int](), 0

    class View(FakeView, weakref=True):
        """A session that can be observed."""

    class ManySessions(FakeHub):
        def iterate_sessions(self) -> Iterator[FakeView]:
            nonlocal most
            for number in range(2000):
                view = View(id=str(number), cwd="/", title="T", is_busy=False, is_asking=False, clients={})
                weakref.finalize(view, alive.discard, number)
                alive.add(number)
                most = max(most, len(alive))
                yield view

    publisher = Publisher(accord.data / "status")
    ServedStatus(ManySessions(), "claude", publisher).publish()  # type: ignore[arg-type]
    assert most < 200
    publisher.close()


@pytest.mark.parametrize("flags", [["--json"], []])
def test_without_a_terminal_watching_prints_changes(accord: Accord, flags: list[str]) -> None:
    publisher = Publisher(accord.data / "status")
    publisher.publish([SessionStatus(id="s", agent="a", cwd="/", state="running", title="Fix it")])
    with accord.start("status", "--watch", *flags) as process:
        assert process.stdout is not None
        assert "Fix it" in process.stdout.readline()
        process.send_signal(2)
        assert process.wait() == 0
    publisher.close()
