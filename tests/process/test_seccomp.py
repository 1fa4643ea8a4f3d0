"""The filter for system calls, run by a small interpreter."""

from __future__ import annotations

import struct

import pytest

from accord.process.seccomp import build_filter

ALLOWED, REFUSED, NO_FAMILY = 0x7FFF0000, 0x00050001, 0x00050061
X86_64, I386, AARCH64, ARM = 0xC000003E, 0x40000003, 0xC00000B7, 0x40000028


def judge(machine: str, architecture: int, number: int, argument: int = 0) -> int:
    """Return what the filter says about a system call."""
    code = build_filter(machine)
    assert code is not None
    data = struct.pack("=IIQQ", number, architecture, 0, argument)
    loaded = at = 0
    while True:
        operation, then, otherwise, value = struct.unpack_from("=HBBI", code, 8 * at)
        at += 1
        match operation:
            case 0x20:
                (loaded,) = struct.unpack_from("=I", data, value)
            case 0x15:
                at += then if loaded == value else otherwise
            case 0x35:
                at += then if loaded >= value else otherwise
            case 0x06:
                return value


@pytest.mark.parametrize(
    ("machine", "architecture", "sockets", "keyctl"),
    [
        ("x86_64", X86_64, (41, 53), 250),
        ("x86_64", I386, (359, 360), 288),
        ("aarch64", AARCH64, (198, 199), 219),
        ("aarch64", ARM, (281, 288), 311),
    ],
)
def test_only_some_families_of_sockets_are_allowed(
    machine: str, architecture: int, sockets: tuple[int, ...], keyctl: int
) -> None:
    for number in sockets:
        assert [judge(machine, architecture, number, family) for family in (1, 2, 10, 16)] == [ALLOWED] * 4
        assert {judge(machine, architecture, number, family) for family in (0, 17, 31, 38, 40, 1 << 31)} == {NO_FAMILY}
    for number in (keyctl, 425):
        assert judge(machine, architecture, number) == REFUSED
    for number in (0, 1, 59, 221, 435):
        assert judge(machine, architecture, number) == ALLOWED


def test_other_architectures_and_interfaces_are_refused() -> None:
    assert judge("x86_64", AARCH64, 0) == judge("aarch64", X86_64, 0) == REFUSED
    assert judge("x86_64", X86_64, 0x40000000 + 41, 40) == REFUSED
    assert judge("x86_64", I386, 102) == REFUSED, "the family is in memory, where a filter can't look"
    assert build_filter("riscv64") is None
