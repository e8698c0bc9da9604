"""What readers type into the search, and the pages that answer it.

Sphinx finds the words of titles and texts. But it drops words such as "out" and "where", and it doesn't know that "jit"
is called `compile` here. A word of this list leads to its pages before all others.
"""

from __future__ import annotations

import re

WORDS = {
    "start/install": ("install", "pip", "pip install", "requirements", "python version", "set_backend"),
    "start/five-minutes": ("tutorial", "quickstart", "getting started", "first steps", "example"),
    "start/writing": ("mutable", "immutable", "assignment", "item assignment", "write"),
    "guides/agnostic": ("backend", "backends", "engine", "backend agnostic", "tensor to numpy", "convert", "native"),
    "guides/library": ("library", "portable", "decorator"),
    "guides/inplace": ("in place", "in-place", "inplace", "view", "views", "copy", "alias", "base"),
    "guides/out": ("out", "out=", "preallocate", "buffer", "reuse memory"),
    "guides/containers": ("container", "containers", "pytree", "tree", "nest", "dict", "state dict", "parameters"),
    "guides/graph": ("compile", "jit", "graph", "graphs", "trace", "tf.function", "fusion"),
    "guides/gradients": ("gradient", "gradients", "grad", "backward", "requires_grad", "autograd",
                         "derivative", "vmap"),
    "guides/neural-networks": ("neural network", "layer", "convolution", "conv", "pooling", "im2col", "resize",
                               "upsample", "deconvolution", "nchw", "nhwc"),
    "guides/training": ("training", "train", "optimizer", "adam", "sgd", "learning rate", "schedule", "optax",
                        "torch.optim", "weight decay", "clip_grad_norm_"),
    "guides/random": ("random", "seed", "rng", "reproducible", "key", "prng"),
    "guides/devices": ("device", "devices", "sharding", "shard", "distributed"),
    "guides/accelerators": ("gpu", "cuda", "tpu", "accelerator", "tf32", "mixed precision"),
    "guides/scale": ("dask", "larger than memory", "out of core", "chunks", "cluster", "zarr", "memory"),
    "guides/threads": ("threads", "thread", "parallel", "gil", "thread safety"),
    "guides/saving": ("save", "load", "saving", "pickle", "file", "npz", "safetensors", "checkpoint"),
    "guides/low-precision": ("float8", "fp8", "int4", "bfloat16", "quantization", "low precision", "ml_dtypes"),
    "guides/debugging": ("debug", "debugging", "error", "errors", "nan", "breakpoint", "assert"),
    "guides/speed": ("overhead", "speed", "cost", "fast", "performance"),
    "guides/why-slow": ("slow", "why slow", "profile", "profiling", "logging", "recompile"),
    "guides/printing": ("print", "printing", "repr", "notebook", "jupyter", "show_versions", "version"),
    "coming-from/numpy": ("numpy", "drop-in", "import unifyarr.numpy as np", "replace numpy"),
    "coming-from/pytorch": ("pytorch", "torch", "tensor"),
    "coming-from/jax": ("jax", "jax.numpy", "at set"),
    "coming-from/tensorflow": ("tensorflow", "keras", "tf"),
    "coming-from/theano": ("theano", "pytensor", "view_map", "destroy_map"),
    "coming-from/ivy": ("ivy", "inplace_update", "handle_out_argument"),
    "reference/dtypes": ("dtype", "dtypes", "float64", "float32", "bfloat16", "64 bits"),
    "reference/functions/where": ("where", "select", "if else"),
    "reference/functions/concat": ("hstack", "vstack"),
    "versions": ("deprecated", "deprecation", "versions", "release"),
}  # fmt: skip


def with_words(page: str, text: str) -> str:
    """Return the text of a page, in either markup, with its words as entries of the index below its title."""
    if page not in WORDS:
        return text
    title = re.search(r"^# .*\n|^.+\n=+\n", text, re.M)
    assert title is not None
    entries = ", ".join(f"! {word}" for word in WORDS[page])
    directive = f"\n```{{index}} {entries}\n```\n" if title[0].startswith("# ") else f"\n.. index:: {entries}\n\n"
    return text[: title.end()] + directive + text[title.end() :]
