"""What all tests share."""

import os

from hypothesis import HealthCheck, settings

# The tests, and the apps that they start, write into nobody's keyring.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"

# How long an example takes says more of what else the machine does than of the code.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
