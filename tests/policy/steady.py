"""How properties are tested here: the same examples every time, however busy the machine is."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

steady = settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
