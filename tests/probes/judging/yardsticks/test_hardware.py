"""How near a reported fact is to a declared one: at each bound, one step below it, one above it."""

import pytest

from benchconsole.probes.judging.yardsticks.hardware import is_as_declared

GIB = 2.0**30


@pytest.mark.parametrize(
    ("name", "reported", "declared", "alike"),
    [
        ("memory.total", 0.93 * 128 * GIB, 128 * GIB, True),
        ("memory.total", 0.9299 * 128 * GIB, 128 * GIB, False),
        ("memory.total", 1.005 * 128 * GIB, 128 * GIB, True),
        ("memory.total", 1.0051 * 128 * GIB, 128 * GIB, False),
        ("disk.size", 980e9, 1e12, True),
        ("disk.size", 979.9e9, 1e12, False),
        ("disk.size", 1020e9, 1e12, True),
        ("disk.size", 1020.1e9, 1e12, False),
        ("cpu.sockets", 2.0, 2.0, True),
        ("cpu.sockets", 2.0000019, 2.0, True),
        ("cpu.sockets", 2.0000021, 2.0, False),
        ("cpu.sockets", "2", 2.0, True),
        ("cpu.sockets", "two", 2.0, False),
        ("cpu.model", " Xeon  E5 ", "xeon e5", True),
        ("cpu.model", "Xeon E5", "Xeon E7", False),
    ],
)
def test_a_fact_is_as_declared_within_what_rounding_and_the_kernel_take(
    name: str, reported: str | float, declared: str | float, alike: bool
) -> None:
    assert is_as_declared(name, reported, declared) is alike
