"""A kept fabric is that of its text and of this program, or none: the fabric of the text is the witness."""

import logging
import os
import zlib
from pathlib import Path

import pytest

from benchconsole.console.session import kept_fabric
from benchconsole.console.session.kept_fabric import MOST_KEPT, KeptFabric
from benchconsole.topology.copying import replace
from benchconsole.topology.description import resolve
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.model.packed_fabric import pack_fabric

TEXT = """schema: 1
fabric: small
parameters: {wide: 2}
switches: {leaf1: {role: leaf}}
nodes: {"n[1-4]": {role: compute}}
links: [{from: "n[1-4]", to: leaf1, speed: 10 Gb/s}]
"""
FABRIC = resolve.load_text(TEXT, "small.yaml")


@pytest.fixture
def read_texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were read and checked, each time that one was."""
    read: list[str] = []
    load_text = resolve.load_text

    def load(text: str, *given: object, **named: object) -> Fabric:
        read.append(text)
        return load_text(text, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(resolve, "load_text", load)
    return read


def open_again(text: str = TEXT, path: str = "small.yaml", wide: int = 2) -> Fabric:
    kept = KeptFabric(text, path, {"wide": wide})
    fabric = kept.load()
    kept.keep()
    return fabric


def find_file(tmp_path: Path) -> Path:
    (found,) = (tmp_path / "cache/benchconsole/fabrics").iterdir()
    return found


def test_a_text_is_read_once(tmp_path: Path, read_texts: list[str]) -> None:
    expected = replace(resolve.load_text(TEXT, "small.yaml", parameters={"wide": 2}))
    read_texts.clear()
    assert [open_again() for _ in range(3)] == [expected] * 3
    assert read_texts == [TEXT]
    assert find_file(tmp_path).stat().st_mode & 0o777 == 0o600
    assert find_file(tmp_path).parent.stat().st_mode & 0o777 == 0o700


def test_nothing_is_kept_before_it_is_asked(tmp_path: Path, read_texts: list[str]) -> None:
    KeptFabric(TEXT, "small.yaml", {}).load()
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("other", [{"text": TEXT + "\n"}, {"path": "other.yaml"}, {"wide": 3}])
def test_another_text_path_or_parameter_is_another_fabric(read_texts: list[str], other: dict[str, object]) -> None:
    open_again()
    fabric = open_again(**other)  # type: ignore[arg-type]
    assert len(read_texts) == 2
    assert (fabric.text, fabric.file.rpartition("/")[2]) == (other.get("text", TEXT), other.get("path", "small.yaml"))


@pytest.mark.parametrize("written", ["~/ssh_config", "ssh_config"])
def test_paths_of_a_text_are_those_of_the_user_and_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_texts: list[str], written: str
) -> None:
    """Of the one that a path rests on, and of no other: the home where it begins with ``~``."""
    for number, name in enumerate(("one", "two"), 1):
        place = tmp_path / name
        place.mkdir()
        if written.startswith("~"):
            monkeypatch.setenv("HOME", str(place))
        else:
            monkeypatch.chdir(place)
        for _ in range(2):
            fabric = open_again(f"{TEXT}ssh: {{config: {written}}}\n")
            assert fabric.access.config == str(place / "ssh_config")
        assert len(read_texts) == number


def test_another_program_reads_the_text_itself(monkeypatch: pytest.MonkeyPatch, read_texts: list[str]) -> None:
    open_again()
    monkeypatch.setattr(kept_fabric, "find_program", lambda package: f"another {package}")
    open_again()
    assert len(read_texts) == 2


def test_what_others_may_write_is_not_read(
    tmp_path: Path, read_texts: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    open_again()
    planted = resolve.load_text(TEXT.replace("10 Gb/s", "1 Gb/s"), "small.yaml")
    find_file(tmp_path).write_bytes(zlib.compress(pack_fabric(planted)))
    find_file(tmp_path).chmod(0o666)
    read_texts.clear()
    with caplog.at_level(logging.WARNING):
        assert open_again().links == FABRIC.links
    assert read_texts == [TEXT]
    assert "a file that others can write (mode 0666)" in caplog.text


@pytest.mark.parametrize("spoil", [lambda raw: raw[:-9], lambda raw: b"no", lambda raw: zlib.compress(b"\x91\x01")])
def test_spoilt_bytes_are_not_used_and_mended(tmp_path: Path, read_texts: list[str], spoil: object) -> None:
    open_again()
    file = find_file(tmp_path)
    file.write_bytes(spoil(file.read_bytes()))  # type: ignore[operator]
    assert [open_again().links for _ in range(2)] == [FABRIC.links] * 2
    assert len(read_texts) == 2


def test_a_flipped_bit_is_seen(tmp_path: Path, read_texts: list[str]) -> None:
    open_again()
    file = find_file(tmp_path)
    raw = bytearray(file.read_bytes())
    for place in range(2, len(raw)):
        raw[place] ^= 1
        file.write_bytes(raw)
        assert KeptFabric(TEXT, "small.yaml", {"wide": 2}).load().links == FABRIC.links
        raw[place] ^= 1


def test_a_folder_that_takes_nothing_costs_only_time(tmp_path: Path, read_texts: list[str]) -> None:
    (tmp_path / "cache").write_text("a file where the folder would be")
    assert [open_again().links for _ in range(2)] == [FABRIC.links] * 2
    assert len(read_texts) == 2


def test_a_text_that_describes_nothing_is_told_each_time(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(TopologyError):
            open_again("schema: 1\nfabric: none\n")
    assert not (tmp_path / "cache").exists()


def test_those_that_were_not_read_for_longest_go(tmp_path: Path, read_texts: list[str]) -> None:
    open_again()
    first = find_file(tmp_path)
    os.utime(first, ns=(0, 0))
    open_again()  # read, and so among the newest
    for number in range(MOST_KEPT):
        if number == 1:
            os.utime(next(each for each in first.parent.iterdir() if each != first), ns=(1, 1))
        open_again(TEXT + f"# {number}\n")
    kept = list(first.parent.iterdir())
    assert (len(kept), first in kept) == (MOST_KEPT, True)
