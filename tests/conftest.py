"""What all tests share."""

from hypothesis import HealthCheck, settings

# How long an example takes says more of what else the machine does than of the code.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
