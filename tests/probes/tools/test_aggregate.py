import json
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Output, PlanError, ProbeOutputError, RemoteError, Target
from benchconsole.probes.model.measuring import FailedAt, TestOutcome
from benchconsole.probes.reach.slurm.local_steps import LocalRemote
from benchconsole.probes.testing import PROBE_CHECKS, Check, FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.aggregate.probe import Aggregate
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import ROOT, noise, output, read, said, text

NAMES = sorted(path.name for path in (ROOT / "aggregate").iterdir())
Options = dict[str, str | int | float]


def left(place: Path) -> list[str]:
    """The sorted names of the files in ``place``."""
    return sorted(each.name for each in place.iterdir())


def spoiled(**other: object) -> Output:
    found: dict[str, Any] = json.loads(text("aggregate/raw.txt").splitlines()[-1])
    return Output((), json.dumps({**found, **other}).encode())


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Aggregate(), [output(f"aggregate/{name}") for name in NAMES])


def labels(form: str, cache: str, images: int = 200) -> tuple[tuple[str, str], ...]:
    return (("cache", cache), ("format", form), ("images", str(images)), ("size", "262144"))


@pytest.mark.parametrize(
    ("name", "seconds", "marks"),
    [
        ("raw.txt", 0.19151322400284698, labels("raw", "dropped")),
        ("hdf5-h5py-3.16.txt", 0.3327678499990725, labels("hdf5", "dropped")),
        ("raw-in-memory.txt", 0.08855539000069257, labels("raw", "unproven", 100)),
    ],
)
def test_a_recorded_run_in_base_units(name: str, seconds: float, marks: tuple[tuple[str, str], ...]) -> None:
    images = 100 if "memory" in name else 200
    found = said(Aggregate().parse(output(f"aggregate/{name}")))
    assert found[:3] == [
        ("aggregate.images", pytest.approx(images / seconds), marks),
        ("aggregate.rate", pytest.approx(images * 262144 / seconds), marks),
        ("aggregate.time", seconds, marks),
    ]
    assert found[3:] == ([("aggregate.hdf5", "h5py 3.16.0, HDF5 2.0.0", ())] if "hdf5" in name else [])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("written", 52428799),
        ("written", 52428801),  # a raw file holds the images and nothing else
        ("written", None),
        ("images", 0),
        ("images", 200.0),
        ("size", True),
        ("seconds", 0),
        ("seconds", -1.0),
        ("seconds", "0.2"),
        ("seconds", None),
        ("format", "tiff"),
        ("version", 2),
        ("end", None),
    ],
)
def test_a_document_that_contradicts_itself_is_refused(key: str, value: object) -> None:
    with pytest.raises(ProbeOutputError):
        Aggregate().parse(spoiled(**{key: value}))


def test_a_file_smaller_than_its_images_is_no_hdf5_either() -> None:
    assert len(Aggregate().parse(spoiled(format="hdf5", written=52428800))) == 3
    with pytest.raises(ProbeOutputError, match="52428799 bytes"):
        Aggregate().parse(spoiled(format="hdf5", written=52428799))


@pytest.mark.parametrize("value", ["NaN", "-nan", "Infinity", "1e999"])
@pytest.mark.parametrize("field", ["seconds", "written", "images", "size"])
def test_no_absurd_number_becomes_a_reading(field: str, value: str) -> None:
    found = json.loads(text("aggregate/raw.txt").splitlines()[-1])[field]
    whole = text("aggregate/raw.txt")
    assert f'"{field}": {found}' in whole
    assert read(Aggregate(), whole.replace(f'"{field}": {found}', f'"{field}": {value}')) == []


def test_a_run_that_failed_gives_nothing_whatever_it_printed() -> None:
    with pytest.raises(ProbeOutputError, match="exit status 1"):
        Aggregate().parse(replace(output("aggregate/raw.txt"), exit_status=1))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMES), noise, noise, st.data())
def test_noise_and_cuts_never_give_another_number(name: str, before: str, after: str, data: st.DataObject) -> None:
    whole = said(Aggregate().parse(output(f"aggregate/{name}")))
    full = before + text(f"aggregate/{name}") + after
    assert read(Aggregate(), full) == whole
    assert read(Aggregate(), full[: data.draw(st.integers(0, len(full)))]) in ([], whole)
    place = data.draw(st.integers(0, len(full)))
    assert read(Aggregate(), f"{full[:place]}\n{data.draw(noise)}\n{full[place:]}") in ([], whole)


# The command and the script.


def target(**options: str | int | float) -> Target:
    return Target(a_node(), options=MappingProxyType({**Aggregate.options, **options}))


def test_the_images_of_the_report_in_words_of_the_command() -> None:
    asked = target(images=100_000, size="256 KiB", scratch="/gpfs")
    argv = list(Aggregate().command(asked))
    written = 2 * 100_000 * 262_144
    assert argv[4:7] == ["/gpfs", str(written + 1_000_000 + 10_000_000), "100016"]
    assert argv[12:] == ["", "100000", "262144", "hdf5"]
    assert Aggregate().space(asked.options) == Aggregate().demands(asked).writes == written
    assert Aggregate().estimate(asked.options) == pytest.approx(4 + 1.5 * written / 100e6 + 200)


@pytest.mark.parametrize(
    "options",
    [{"images": 0}, {"images": 1.5}, {"images": 10**8}, {"size": "256"}, {"size": "2 GiB"}, {"format": "netcdf"}],
)
async def test_options_out_of_range_are_refused_before_anything_is_sent(options: Options) -> None:
    here = FakeRemote("n1", lenient=True)
    with pytest.raises(PlanError, match=f"option {next(iter(options))}"):
        await Aggregate().run(FakeContact(here), target(**options))
    assert here.calls == []


async def test_a_real_run_appends_every_image(tmp_path: Path) -> None:
    contact = FakeContact(LocalRemote("s-1", "n1"))
    asked = target(scratch=str(tmp_path), images=30, size="16 KiB", format="raw")
    (done,) = await Aggregate().run(contact, asked)
    whole = json.loads(done.text.splitlines()[-1])
    found = {name: value for name, value, _ in said(Aggregate().parse(done))}
    assert (contact.gathered, left(tmp_path)) == (1, [])
    assert whole["written"] == 30 * 16384
    assert found["aggregate.rate"] == pytest.approx(30 * 16384 / whole["seconds"])


PLAYED = """
class File:
    def __init__(self, path, mode): self.out = open(path, "wb")
    def __enter__(self): return self
    def __exit__(self, *_): self.out.close()
    def create_dataset(self, name, shape, kind, chunks): self.out.write(b"header"); return self
    def __setitem__(self, number, content): self.out.write(content)

class version: hdf5_version = "1.10.8"
__version__ = "3.7.0"
"""


def venv(tmp_path: Path, **modules: str) -> str:
    """A Python of its own with these modules and no others of the machine."""
    place = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True, timeout=60)
    (packages,) = place.glob("lib/python3*/site-packages")
    for name, content in modules.items():
        (packages / f"{name}.py").write_text(content)
    return str(place / "bin" / "python")


async def test_hdf5_is_written_by_h5py_and_its_versions_are_told(tmp_path: Path) -> None:
    python = venv(tmp_path, h5py=PLAYED, numpy="def frombuffer(content, kind): return content\n")
    asked = target(scratch=str(tmp_path), images=10, size="4 KiB", python=python)
    (done,) = await Aggregate().run(FakeContact(LocalRemote("s-1", "n1")), asked)
    found = Aggregate().parse(done)
    assert dict(found[0].labels)["format"] == "hdf5"
    assert said(found)[-1] == ("aggregate.hdf5", "h5py 3.7.0, HDF5 1.10.8", ())
    assert json.loads(done.text.splitlines()[-1])["written"] == 10 * 4096 + len("header")


async def test_without_h5py_the_test_is_skipped_with_the_package(tmp_path: Path) -> None:
    asked = target(scratch=str(tmp_path), images=10, size="4 KiB", python=venv(tmp_path))
    with pytest.raises(RemoteError, match=r"no h5py \(No module named 'h5py'\): Debian package python3-h5py") as raised:
        await Aggregate().run(FakeContact(LocalRemote("s-1", "n1")), asked)
    assert raised.value.failure.stage is FailedAt.REFUSED
    assert raised.value.failure.stage.outcome is TestOutcome.SKIPPED
    assert left(tmp_path) == ["venv"]
