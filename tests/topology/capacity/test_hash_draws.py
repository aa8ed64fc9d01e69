"""Draws at once: each row is what ``expect`` says under the hashes of its seed, by the filling of all links."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.capacity.expect import compute_capacities, expect
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.capacity.hash_draws import HashDraws
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.routing.routes import Routes
from tests.topology.fabrics import flows_of, networks


@given(networks(), st.randoms(use_true_random=False), st.sampled_from((Model.HASH, Model.POLARISED)))
@settings(max_examples=60, deadline=None)
def test_each_draw_is_the_expectation_of_its_seed(described: Fabric, chance: object, model: Model) -> None:
    flows = flows_of(described, chance, 10)
    drawn = HashDraws(Routes(described), flows, model, lambda parts: compute_capacities(described, parts, {}))
    rates = drawn.compute_rates([3, 4])
    for row, seed in zip(rates, (3, 4), strict=True):
        alone = [each.value for each in expect(described, flows, model=model, seed=seed)]
        np.testing.assert_allclose(row, alone, rtol=1e-9)
