"""The reference interpreter: IR to a run and its report (interp.md).

Read `machine` for the order of events, then one module per concept: sessions as
instructions (`layout`, `ops`), pools (`pools`, `caching`, `growth`), stages
(`stages`, `flows`), engines (`engine`, `planning`), clients, claims, gauges.
"""

from serq.sim.errors import RunError
from serq.sim.report import Report
from serq.sim.run import run

__all__ = ["Report", "RunError", "run"]
