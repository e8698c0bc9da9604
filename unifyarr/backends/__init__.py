"""The engines, one package each, loaded by name at first use (see ``README.md``)."""
