"""A seccomp filter for sandboxed commands, as a BPF program for `bwrap --seccomp`.

Namespaces don't cover everything: a VSOCK socket reaches the hypervisor of a virtual machine without any network, and
the kernel's keyrings belong to the user. The filter allows only sockets of the file system and the network namespace,
and neither keyrings nor io_uring, which creates sockets without the system call."""

from __future__ import annotations

import errno
import platform
import socket
import struct
from typing import NamedTuple

SOCKET_FAMILIES = (1, 2, 10, 16)
"""AF_UNIX, AF_INET, AF_INET6, AF_NETLINK."""
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENT_AT = 0, 4, 16
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000 | errno.EPERM
_NO_FAMILY = 0x00050000 | getattr(errno, "EAFNOSUPPORT", 97)
_X32 = 0x40000000


class _Calls(NamedTuple):
    """The numbers of system calls on one architecture."""

    architecture: int
    sockets: tuple[int, ...]
    """Their first argument is a family."""
    refused: tuple[int, ...]


_IO_URING = (425, 426, 427)
_X86_64 = _Calls(0xC000003E, (41, 53), (*_IO_URING, 248, 249, 250))
_I386 = _Calls(0x40000003, (359, 360), (*_IO_URING, 286, 287, 288, 102))  # 102 is socketcall, whose family is in memory
_AARCH64 = _Calls(0xC00000B7, (198, 199), (*_IO_URING, 217, 218, 219))
_ARM = _Calls(0x40000028, (281, 288), (*_IO_URING, 309, 310, 311))
_MACHINES = {"x86_64": (_X86_64, _I386), "aarch64": (_AARCH64, _ARM)}


def build_filter(machine: str = "") -> bytes | None:
    """Return the filter; None for a machine that isn't known."""
    calls = _MACHINES.get(machine or platform.machine())
    if calls is None or not hasattr(socket, "AF_UNIX"):
        return None
    code: list[tuple[int, int, int, int]] = []
    for each in calls:
        part = _check(each)
        code += [(_LOAD, 0, 0, _ARCHITECTURE_AT), (_EQUAL, 0, len(part), each.architecture), *part]
    code.append((_RETURN, 0, 0, _REFUSE))  # an architecture that the kernel shouldn't support
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _check(calls: _Calls) -> list[tuple[int, int, int, int]]:
    """Return the instructions for one architecture. Each jump skips the next instruction or two."""
    code = [(_LOAD, 0, 0, _NUMBER_AT)]
    if calls is _X86_64:
        code += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _REFUSE)]
    for number in calls.refused:
        code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    families = [(_LOAD, 0, 0, _ARGUMENT_AT)]
    for family in SOCKET_FAMILIES:
        families += [(_EQUAL, 0, 1, family), (_RETURN, 0, 0, _ALLOW)]
    families.append((_RETURN, 0, 0, _NO_FAMILY))
    for number in calls.sockets:
        code += [(_EQUAL, 0, len(families), number), *families]
    return [*code, (_RETURN, 0, 0, _ALLOW)]
