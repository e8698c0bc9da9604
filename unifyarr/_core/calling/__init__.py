"""A call: the dispatcher, the concerns around a body, and the kernels that it invokes."""
