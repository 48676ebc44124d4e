"""Random streams: the block function, seeds and draws, against the peer's generator and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pyserq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq.sim import draws
from serq.sim.rng import (
    LEG_KIND,
    SESSION_KIND,
    WORKLOAD_KIND,
    StreamBank,
    WordStream,
    mix,
    substream,
    unit_stream,
)

SEEDS = [0, 1, 2, 7, 2**32 - 1, 2**63, 2**64 - 1]


@pytest.mark.parametrize("seed", SEEDS)
def test_units_are_the_peers(seed: int) -> None:
    peer, ours = pyserq.Rng(seed), unit_stream(seed)
    assert [ours() for _ in range(1_000)] == [peer.random_f64() for _ in range(1_000)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n", [1, 2, 3, 10, 2**31 + 1, 2**32 - 1])
def test_ranges_are_the_peers(seed: int, n: int) -> None:
    peer, ours = pyserq.Rng(seed), WordStream(seed)
    assert [ours.below(n) for _ in range(300)] == [peer.range_u32(0, n - 1) for _ in range(300)]


def test_the_mixing_step_is_splitmix64() -> None:
    # The generator's published first outputs from state 0.
    assert mix(0) == 0xE220A8397B1DCDAF
    assert mix(0x9E3779B97F4A7C15) == 0x6E789E6AA1B965F4


@given(
    seed=st.integers(0, 2**64 - 1),
    kind=st.sampled_from([WORKLOAD_KIND, SESSION_KIND, LEG_KIND]),
    serial=st.integers(0, 5_000),
    part=st.integers(0, 500),
)
def test_the_bank_opens_the_stream_of_its_seed(seed: int, kind: int, serial: int, part: int) -> None:
    opened, alone = (
        StreamBank(seed).open(kind, serial, part),
        unit_stream(substream(seed, serial, part, kind)),
    )
    assert [opened() for _ in range(50)] == [alone() for _ in range(50)]


def test_a_stream_of_many_blocks_goes_on_where_its_chunks_meet() -> None:
    long = unit_stream(3)
    taken = [long() for _ in range(20_000)]
    peer = pyserq.Rng(3)
    assert taken == [peer.random_f64() for _ in range(20_000)]


class TestDistributions:
    """Values follow the formulas of the units; means and variances the closed forms."""

    @staticmethod
    def sample(name: str, *args: float) -> np.ndarray:
        stream = unit_stream(11)
        return np.array([getattr(draws, name)(stream, *args) for _ in range(40_000)])

    def test_exponential(self) -> None:
        values = self.sample("draw_exp", 2.0)
        assert values.mean() == pytest.approx(2.0, rel=0.03)
        assert values.var() == pytest.approx(4.0, rel=0.06)

    def test_erlang_truncates_its_phases_and_keeps_its_mean(self) -> None:
        values = self.sample("draw_erlang", 3.9, 2.0)
        assert values.mean() == pytest.approx(2.0, rel=0.02)
        assert values.var() == pytest.approx(4.0 / 3.0, rel=0.05)
        assert draws.draw_erlang(unit_stream(1), -5.0, 2.0) == draws.draw_exp(unit_stream(1), 2.0)

    def test_hyperexponential(self) -> None:
        values = self.sample("draw_h2", 1.0, 4.0)
        assert values.mean() == pytest.approx(1.0, rel=0.04)
        assert values.var() == pytest.approx(4.0, rel=0.1)

    def test_uniform_may_be_reversed(self) -> None:
        values = self.sample("draw_uniform", 5.0, 1.0)
        assert values.min() >= 1.0 and values.max() <= 5.0
        assert values.mean() == pytest.approx(3.0, rel=0.02)

    def test_bernoulli_at_its_ends(self) -> None:
        assert self.sample("draw_bernoulli", 1.0).min() == 1.0
        assert self.sample("draw_bernoulli", 0.0).max() == 0.0
        assert self.sample("draw_bernoulli", math.nan).max() == 0.0

    def test_a_determined_value_takes_no_unit(self) -> None:
        stream = unit_stream(5)
        draws.draw_det(stream, 3.0)
        assert stream() == unit_stream(5)()
