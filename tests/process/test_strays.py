"""The supervisor finds what a killed keeper leaves behind, even if it forks while the supervisor searches."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import _socket, os, signal
from accord.process import supervisor

os.set_inheritable(0, False)
ours, theirs = _socket.socketpair()
tested = supervisor.Supervisor(ours)
assert tested._is_subreaper

go, say_go = os.pipe()
forked, say_forked = os.pipe()
stray = os.fork()
if stray == 0:
    os.read(go, 1)
    last = os.fork()
    if last == 0:
        signal.pause()
    os.write(say_forked, b"%d" % last)
    os._exit(0)

search = supervisor.find_descendants
last = 0

def search_too_early(*args):
    '''The stray forks after the list of processes was read, and ends before it is looked at.'''
    global last
    if last:
        return search(*args)
    os.write(say_go, b"!")
    last = int(os.read(forked, 100))
    os.waitid(os.P_PID, stray, os.WEXITED | os.WNOWAIT)
    return []

supervisor.find_descendants = search_too_early
tested._kill_strays()
try:
    os.kill(last, 0)
except ProcessLookupError:
    print("gone")
else:
    os.kill(last, signal.SIGKILL)
    print("left")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
def test_a_stray_that_forks_while_strays_are_searched_leaves_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr) == ("gone\n", "")
