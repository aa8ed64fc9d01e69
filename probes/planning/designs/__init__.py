"""The designs by name, one line each, with the options that each reads and their defaults."""

from collections.abc import Mapping
from types import MappingProxyType

from benchconsole.probes.planning.designs import neighbours, one_way, pairs, permutation, star, steered, stress, trunks
from benchconsole.probes.planning.layout import Design

DESIGNS: Mapping[str, Design] = MappingProxyType({
    "neighbours": Design(neighbours.lay_out),
    "trunks": Design(trunks.lay_out),
    "star": Design(star.lay_out, {"servers": ""}, fans_out=True),
    "permutation": Design(permutation.lay_out, {"shift": 0, "seed": 1}),
    "all-pairs": Design(pairs.lay_out_all),
    "sample": Design(pairs.lay_out_sample, {"fraction": 0, "pairs": 0, "seed": 1}),
    "steered": Design(steered.lay_out, {"partners": 4, "seed": 1, "share": ""}),
    "stress": Design(stress.lay_out, {"share": ""}),
    "one-way": Design(one_way.lay_out, one_way.OPTIONS, fans_out=True),
})  # fmt: skip

DEFAULT_DESIGN = "neighbours"
