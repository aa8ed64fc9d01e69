"""Samples of /proc: the arithmetic by hand, what is cut or hostile gives no number, and never an error."""

import random
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.probes.api import Fact
from benchconsole.probes.model.load import find_number, group_load
from benchconsole.probes.readers.load_samples import (
    LAST_LINE,
    MOST_PARTS,
    count_samples,
    find_last_load,
    read_samples,
    summarize,
)
from benchconsole.probes.running.load_sampler import SCRIPT

NAMES = "irq 24 PCI-MSIX-0000:01:00.0 0-edge mlx5_comp0\n"


def make_sample(number: int, *, busy: int = 98, packets: int = 97, own: int = 1, process: str = "nfsd") -> str:
    """Sample ``number``, one second after the one before: core 3 does ``busy`` of 100 ticks, core 0 none."""
    n, done = number, number * busy
    return f"""sample {n}
/proc/uptime:{100 + n}.00 500.00
/proc/stat:cpu  1 2 3 4 5 6 7 8 0 0
/proc/stat:cpu0 0 0 0 {n * 90} {n * 10} 0 0 0 0 0
/proc/stat:cpu3 {done - n * packets} 0 0 {n * 100 - done} 0 0 {n * packets} 0 0 0
/proc/stat:intr {n * 5000} {"0 " * 24}{n * 4000} {n * 3}
/proc/stat:ctxt {n * 700}
/proc/stat:softirq {n * 9} 0 1 {n * 20} {n * 30000} 0
/proc/meminfo:MemAvailable:   {1000 - n} kB
/proc/net/dev:  eth0: {n * 1000} 0 0 {n * 2} 0 0 0 0 {n * 500} 0 0 {n} 0 0 0 0
/proc/net/dev:    lo: 7 0 0 0 0 0 0 0 7 0 0 0 0 0 0 0
/proc/diskstats:   8       0 sda 1 2 {n * 10} 4 5 6 {n * 20} 8 0 {n * 250} 11
/proc/net/rpc/nfsd:th 16 0
/proc/net/rpc/nfsd:rpc {n * 40} 0 0 0 0
/proc/net/rpc/nfs:rpc {n * 50} {n * 5} 0
/proc/77/stat:77 (a ) b) S 1 1 1 0 -1 1 1 1 1 1 {own * n} 0 0 0 20
largest {2000 + n} {process}
{LAST_LINE}
"""


def tell(text: str) -> dict[tuple[str, str], Fact]:
    samples, names = read_samples(text)
    return group_load(summarize("n3", samples, names))["n3"]


OUTPUT = NAMES + "".join(make_sample(n) for n in range(4))


def test_the_fullest_core_is_named_with_what_fills_it() -> None:
    found = tell(OUTPUT)
    assert dict(found["load.core.busy", "median"].labels) == {"core": "3", "node": "n3", "of": "median"}
    assert find_number(found, "load.core.busy") == pytest.approx(0.98)
    assert find_number(found, "load.core.softirq") == pytest.approx(0.97)
    assert find_number(found, "load.core.user") == pytest.approx(0.01)
    assert find_number(found, "load.cpu.busy") == pytest.approx(0.49)
    assert find_number(found, "load.samples", "") == 3


@pytest.mark.parametrize(
    ("name", "of", "value"),
    [
        ("load.interrupts", "median", 5000), ("load.interrupts.top", "mean", 4000), ("load.context_switches", "max", 700),
        ("load.softirq.net_rx", "median", 30000), ("load.softirq.net_tx", "median", 20),
        ("load.memory.available", "min", 997 * 1024), ("load.memory.largest", "max", 2003 * 1024),
        ("load.nic.received", "median", 1000), ("load.nic.sent", "median", 500), ("load.nic.dropped", "max", 3),
        ("load.disk.read", "median", 5120), ("load.disk.written", "median", 10240), ("load.disk.busy", "median", 0.25),
        ("load.nfsd.threads", "max", 16), ("load.nfsd.calls", "median", 40), ("load.nfs.calls", "median", 50),
        ("load.nfs.resent", "median", 5), ("load.sampler.cpu", "mean", 0.01),
    ],
)  # fmt: skip
def test_rates_follow_from_neighbouring_samples(name: str, of: str, value: float) -> None:
    assert find_number(tell(OUTPUT), name, of) == pytest.approx(value)


def test_the_interrupt_that_comes_most_often_has_its_name() -> None:
    top = tell(OUTPUT)["load.interrupts.top", "mean"]
    assert dict(top.labels)["interrupt"] == "24 PCI-MSIX-0000:01:00.0 0-edge mlx5_comp0"


def test_a_disk_or_nic_with_nothing_to_do_is_left_out_and_few_are_kept() -> None:
    facts = summarize("n3", *read_samples(OUTPUT))
    assert {dict(each.labels).get("nic") for each in facts} == {None, "eth0"}
    text = "".join(
        make_sample(n).replace(
            "/proc/net/dev:    lo",
            "".join(f"/proc/net/dev: e{p}: {n * p * 9999} 0 0 0 0 0 0 0 0 0 0 0\n" for p in range(9)) + "/x",
        )
        for n in range(3)
    )
    kept = {dict(each.labels)["nic"] for each in summarize("n3", *read_samples(text)) if "nic" in dict(each.labels)}
    assert kept == {"e8", "e7", "e6", "e5"}
    assert len(kept) == MOST_PARTS


def test_a_counter_that_went_backwards_gives_no_rate() -> None:
    restarted = NAMES + make_sample(5) + make_sample(1).replace("101.00", "106.00")
    found = tell(restarted)
    assert "load.interrupts" not in {name for name, _ in found}
    assert "load.core.busy" not in {name for name, _ in found}
    assert find_number(found, "load.memory.available", "min") == 999 * 1024


def test_the_name_of_a_process_is_data() -> None:
    found = tell(make_sample(0) + make_sample(1, process="x\x1b[2J\x07" + "y" * 900))
    name = dict(found["load.memory.largest", "max"].labels)["process"]
    assert name.isprintable()
    assert len(name) <= 48


def test_one_sample_says_that_there_was_no_time_for_a_second() -> None:
    assert [(each.fact, each.value) for each in summarize("n3", *read_samples(make_sample(0)))] == [("load.samples", 0)]


@given(st.integers(0, len(OUTPUT)))
def test_a_cut_output_tells_what_its_whole_samples_tell(end: int) -> None:
    samples, names = read_samples(OUTPUT[:end])
    assert len(samples) == count_samples(OUTPUT[:end].encode())
    whole, _ = read_samples(OUTPUT)
    assert samples == whole[: len(samples)]
    summarize("n3", samples, names)


@given(st.randoms(use_true_random=False), st.integers(1, 40))
def test_damaged_output_never_raises_and_gives_finite_numbers_within_their_bounds(
    source: random.Random, times: int
) -> None:
    letters = list(OUTPUT)
    for _ in range(times):
        letters[source.randrange(len(letters))] = source.choice("0123456789 :\n()-.\x00\ud800é")
    for fact in summarize("n3", *read_samples("".join(letters))):
        if isinstance(fact.value, float):
            assert 0 <= fact.value < 1e24
            if fact.fact.startswith(("load.core.", "load.cpu.")):
                assert fact.value <= 1.000001
        assert all(len(value) <= 60 for _, value in fact.labels)


@given(st.text())
def test_any_text_is_no_error(text: str) -> None:
    summarize("n3", *read_samples(text))


@pytest.mark.skipif(shutil.which("sh") is None, reason="no shell")
def test_the_script_gives_on_this_machine_what_the_reader_reads() -> None:
    done = subprocess.run(["sh", "-c", SCRIPT, "sh", "0.1", "3"], capture_output=True, timeout=60, check=True)
    assert done.stderr == b""
    assert count_samples(done.stdout) == 3
    found = tell(done.stdout.decode(errors="replace"))
    assert find_number(found, "load.samples", "") == 2
    for name, of in (("load.core.busy", "median"), ("load.context_switches", "median"), ("load.interrupts", "median"),
                     ("load.softirq.net_rx", "median"), ("load.memory.available", "min"),
                     ("load.memory.largest", "max"), ("load.sampler.cpu", "mean")):  # fmt: skip
        assert find_number(found, name, of) is not None, name


def test_the_last_load_is_that_of_the_last_step() -> None:
    text = OUTPUT + make_sample(4, busy=96, packets=50)
    last = make_sample(3, busy=0, packets=0) + make_sample(4, busy=20, packets=10)
    found = find_last_load("n3", OUTPUT + last)
    assert found is not None
    assert (found.node, found.core) == ("n3", "3")
    assert [found.busy, found.softirq] == pytest.approx([0.8, 0.4])
    assert find_last_load("n3", text) is not None


@given(cut=st.integers(0, len(OUTPUT)))
def test_the_end_of_an_output_that_is_cut_at_its_beginning_tells_the_same_or_nothing(cut: int) -> None:
    assert find_last_load("n3", OUTPUT[cut:]) in (None, find_last_load("n3", OUTPUT))


@given(text=st.text(max_size=400))
def test_of_hostile_text_there_is_no_last_load(text: str) -> None:
    assert find_last_load("n3", text) is None
    assert find_last_load("n3", OUTPUT + text + "\n") == find_last_load("n3", OUTPUT)
