"""What tests share: where the recorded data is, and hypothesis without deadlines."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# No test asserts time, and a shared machine makes single examples slow now and then.
settings.register_profile("serq", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("serq")
