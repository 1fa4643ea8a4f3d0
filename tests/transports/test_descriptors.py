"""Reading and writing without blocking, and without changing shared descriptors."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from accord.transports import descriptors
from accord.transports.descriptors import Inlet, Outlet

Ends = tuple[int, int]
BOUND = 300.0


@pytest.fixture(params=["pipe", "socket"])
def ends(request: pytest.FixtureRequest) -> Iterator[Ends]:
    """An end to read from and one to write to, held by others as well."""
    if request.param == "pipe":
        reading, writing = os.pipe()
        yield reading, writing
        os.close(reading)
        os.close(writing)
    else:
        left, right = socket.socketpair()
        with left, right:
            yield left.fileno(), right.fileno()


def in_time(action: object) -> None:
    """Fails if this waits, instead of waiting with it."""
    thread = threading.Thread(target=action, daemon=True)  # type: ignore[arg-type]
    thread.start()
    thread.join(BOUND)
    assert not thread.is_alive(), "it waits"


def test_reading_nothing_does_not_wait(ends: Ends) -> None:
    inlet = Inlet.open_shared(ends[0])

    def read() -> None:
        with pytest.raises(BlockingIOError):
            inlet.read(inlet.fd, 100)

    in_time(read)
    os.write(ends[1], b"hello")
    assert inlet.read(inlet.fd, 100) == b"hello"
    inlet.close()


def test_writing_too_much_does_not_wait(ends: Ends) -> None:
    outlet = Outlet.open_shared(ends[1])

    def fill() -> None:
        while True:
            outlet.write(outlet.fd, b"x" * 65536)

    def write() -> None:
        with pytest.raises(BlockingIOError):
            fill()

    in_time(write)
    outlet.close()


def test_what_is_shared_stays_open_and_unchanged(ends: Ends) -> None:
    inlet, outlet = Inlet.open_shared(ends[0]), Outlet.open_shared(ends[1])
    assert os.get_blocking(ends[0]) and os.get_blocking(ends[1])
    for end in (inlet, outlet):
        end.close()
        end.close()

    os.write(ends[1], b"still open")
    assert os.read(ends[0], 100) == b"still open"


def test_a_pipe_that_cannot_be_opened_again_is_switched_over_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptors, "reopen", lambda fd, access: None)
    reading, writing = os.pipe()
    inlet, outlet = Inlet.open_shared(reading), Outlet.open_shared(writing)
    assert inlet.may_block and os.get_blocking(reading), "a reader does without"
    assert not os.get_blocking(writing)
    inlet.close()
    outlet.close()

    assert os.get_blocking(writing)
    os.close(reading)
    os.close(writing)


def test_a_terminal_that_cannot_be_opened_again_is_written_by_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptors, "reopen", lambda fd, access: None)
    screen, program = os.openpty()
    outlet = Outlet.open_shared(program)
    assert outlet.threaded
    assert os.get_blocking(program)
    outlet.close()
    os.close(screen)
    os.close(program)


def test_on_windows_nothing_is_made_non_blocking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Since Python 3.12 it could be, and threads that count on blocking calls would spin."""
    monkeypatch.setattr(descriptors, "sys", SimpleNamespace(platform="win32"))
    reading, writing = os.pipe()
    inlet, outlet = Inlet.open_own(reading), Outlet.open_own(writing)

    assert os.get_blocking(reading) and os.get_blocking(writing)
    inlet.close()
    outlet.close()


def test_on_windows_a_socket_does_not_use_missing_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptors, "sys", SimpleNamespace(platform="win32"))
    monkeypatch.delattr(socket, "MSG_DONTWAIT")
    left, right = socket.socketpair()
    with left, right:
        inlet, outlet = Inlet.open_shared(left.fileno()), Outlet.open_shared(right.fileno())
        outlet.write(outlet.fd, b"hello")
        assert inlet.may_block and inlet.read(inlet.fd, 100) == b"hello"
        inlet.close()
        outlet.close()
