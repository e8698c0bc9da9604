"""Why functions launch more kernels than the engine's of the same name, where no kernel of theirs says it."""

from __future__ import annotations

# From a reason to the functions, by their names.
REASONS: dict[str, str] = {
    "integers and bools are cast to floating-point numbers by a launch of their own": (
        "nn.sigmoid special.erfinv special.expit special.i0 special.i0e special.i1 special.i1e special.log_ndtr "
        "special.ndtri special.xlog1py special.xlogy"
    ),
    "the result has memory of its own, where the engine's is a view or the argument": (
        "asarray einsum meshgrid nn.dropout positive"
    ),
    "indices are compared with the bounds before they are launched": "nn.embedding nn.one_hot take unravel_index",
    "values are looked at, which the engine refuses or has other results for: NaN, negative or great ones": (
        "bincount linalg.cond linalg.matrix_rank linalg.pinv linalg.svd linalg.svdvals quantile"
    ),
    "rows are scaled by their greatest elements, so that no square overflows": (
        "corrcoef nn.cosine_similarity nn.instance_norm"
    ),
    "NaN are replaced and counted by launches of their own, and slices of nothing else are told apart": (
        "nanmean nanmedian nanquantile"
    ),
    "rows that a mask hides as a whole give zeros, and masks are broadcast": "nn.scaled_dot_product_attention",
    "impossible outcomes that didn't occur cost nothing, and infinite weights and logits have limits": (
        "nn.binary_cross_entropy nn.binary_cross_entropy_with_logits"
    ),
    "of infinite numbers the result is 1, and not NaN": "nn.softsign",
    "its values are those of the zeta function, which is mended for great arguments": "special.polygamma",
    "windows of all lengths, on any number of axes, are gathered by indices or laid side by side": (
        "nn.adaptive_max_pool1d nn.adaptive_max_pool2d nn.adaptive_max_pool3d nn.unfold"
    ),
    "without its padding the result is copied, so that nothing keeps the padding's memory": "nn.fold",
    "it is composed of operations that are a launch each, and the engine's kernel isn't used so far": (
        "argwhere clip diagflat isclose nn.glu nn.huber_loss nn.mse_loss trapezoid vander"
    ),
    "factors are unpacked by a launch of its own, so that singular matrices have some": "linalg.lu",
    "a number that is the exponent is filled in as an array": "float_power",
}
BY_NAME = {name: reason for reason, names in REASONS.items() for name in names.split()}
