"""Hypothesis settings: the same examples every time, however busy the machine is."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# How long examples take depends on the load of the machine, so no test may fail because of it.
settings.register_profile("accord", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("accord")

steady = settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
