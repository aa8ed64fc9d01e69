"""Max-min rates of the referee against cases worked out by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from benchmarks.attribution.water_filling import Crossing, Floats, fill, is_max_min_fair


class Case:
    """Streams as lists of (cable, share), cables by their capacity."""

    def __init__(self, capacity: Sequence[float], *streams: Sequence[tuple[int, float]], demand: float = 10.0) -> None:
        self.capacity = np.array(capacity, float)
        self.crossing = Crossing(
            np.repeat(np.arange(len(streams)), [len(each) for each in streams]),
            np.array([cable for each in streams for cable, _ in each], np.intp),
            np.array([share for each in streams for _, share in each]),
        )
        self.weight, self.demand = np.ones(len(streams)), np.full(len(streams), demand)

    def fill(self) -> list[float]:
        rates = fill(self.crossing, self.capacity, self.weight, self.demand)
        assert self.is_fair(rates)
        return [float(each) for each in rates]

    def is_fair(self, rates: Floats) -> bool:
        return is_max_min_fair(self.crossing, self.capacity, self.weight, self.demand, rates)


def one_each(loads: Sequence[int], wan: bool) -> Case:
    """Streams over one member of 10 each, ``loads`` to a member, and over a line of 100 behind, if any."""
    behind = [(len(loads), 1.0)] if wan else []
    streams = [[(member, 1.0), *behind] for member, load in enumerate(loads) for _ in range(load)]
    return Case([*(10.0 for _ in loads), 100.0], *streams)


def test_chassis_divides_its_uplinks_over_both_legs_of_16_blades() -> None:
    legs = [[(leg, 1.0), (32 + leg % 2, 1.0)] for leg in range(32)]
    assert Case([*(10.0,) * 32, 80.0, 80.0], *legs).fill() == pytest.approx([5.0] * 32)
    assert Case([*(10.0,) * 32, 40.0, 80.0], *legs).fill() == pytest.approx([2.5, 5.0] * 16)  # one uplink down


@pytest.mark.parametrize(("chassis", "share"), [(1, 10.0), (2, 5.0), (4, 2.5), (5, 2.0)])
def test_rack_switch_divides_its_uplinks_over_all_blades(chassis: int, share: float) -> None:
    blades = [[(0, 0.5), (1, 0.5)] for _ in range(16 * chassis)]
    assert Case([80.0, 80.0], *blades).fill() == pytest.approx([share] * 16 * chassis)


@pytest.mark.parametrize(("servers", "rate"), [(27, 80 / 9), (20, 10.0)])
def test_cross_link_carries_the_half_that_arrives_at_the_wrong_spine(servers: int, rate: float) -> None:
    streams = [[(server, 1.0), (servers, 0.5)] for server in range(servers)]
    assert Case([*(10.0,) * servers, 120.0], *streams).fill() == pytest.approx([rate] * servers)


EVEN = [3] * 6 + [2] * 6
DRAWN = [5, 4, 4, 3, 3, 3, 2, 2, 2, 1, 1, 0]


@pytest.mark.parametrize(
    ("loads", "wan", "wanted"),
    [
        (EVEN, False, [10 / 3] * 18 + [5.0] * 12),
        (EVEN, True, [10 / 3] * 30),
        (DRAWN, False, [2.0] * 5 + [2.5] * 8 + [10 / 3] * 9 + [5.0] * 6 + [10.0] * 2),
        (DRAWN, True, [2.0] * 5 + [2.5] * 8 + [10 / 3] * 9 + [5.0] * 8),
    ],
)
def test_lag_of_twelve(loads: Sequence[int], wan: bool, wanted: list[float]) -> None:
    assert one_each(loads, wan).fill() == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("first", "second", "rates"),
    [
        (4, 4, (10, 10)),
        (5, 4, (10, 10)),
        (15, 15, (10 / 3, 10 / 3)),
        (16, 14, (25 / 8, 25 / 7)),
        (20, 10, (2.5, 5)),
        (27, 3, (50 / 27, 10)),
        (30, 0, (5 / 3, 0)),
    ],
)
def test_two_vlans_of_50_in_one_line_of_100(first: int, second: int, rates: tuple[float, float]) -> None:
    streams = [[(vlan, 1.0), (2, 1.0)] for vlan, count in enumerate((first, second)) for _ in range(count)]
    wanted = [rates[0]] * first + [rates[1]] * second
    assert Case([50.0, 50.0, 100.0], *streams).fill() == pytest.approx(wanted)


def test_weight_counts_as_so_many_streams() -> None:
    case = Case([10.0], [(0, 1.0)], [(0, 1.0)])
    case.weight[0] = 4.0
    assert case.fill() == pytest.approx([8.0, 2.0])


@pytest.mark.parametrize("rates", [[6.0, 6.0], [4.0, 6.0], [4.0, 4.0], [12.0, 0.0]])
def test_certificate_refuses_rates_that_are_not_fair(rates: list[float]) -> None:
    case = Case([10.0], [(0, 1.0)], [(0, 1.0)])
    assert case.is_fair(np.array([5.0, 5.0]))
    assert not case.is_fair(np.array(rates))


def test_certificate_holds_on_drawn_fabrics() -> None:
    chance = np.random.default_rng(1)
    for _ in range(20):
        streams = [
            [(int(cable), float(chance.uniform(0.2, 1))) for cable in chance.choice(30, 4, replace=False)]
            for _ in range(60)
        ]
        Case(list(chance.uniform(5, 50, 30)), *streams, demand=float(chance.uniform(1, 20))).fill()


def test_stream_that_nothing_limits_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing limits it"):
        Case([10.0], [(0, 1.0)], [], demand=np.inf).fill()
