"""Arrays of JAX over eight devices, which the host pretends to have: ``test_sharding.py`` runs these files.

``XLA_FLAGS=--xla_force_host_platform_device_count=8 pytest --backends jax tests/backends/over_devices/placing.py``
runs one.
"""
