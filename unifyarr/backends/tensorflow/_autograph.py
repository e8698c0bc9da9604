"""AutoGraph leaves our functions alone: under ``tf.function`` it rewrites all Python code that it meets."""

from __future__ import annotations

from ..private import private


def leave_alone(package: str) -> bool:
    """Make AutoGraph call the functions of a package unconverted, and return whether it does.

    AutoGraph can't rewrite some of our functions, warns of each, and calls it as it is in the end. Its mark for single
    functions, ``do_not_convert``, would have to be on every method and on every function that ours return. So a rule
    for our own package goes before AutoGraph's list of rules, which has no public door. The rules that others have put
    there stay as they are. A version without such a list is left as it is too: then it warns, and the results are the
    same.
    """
    config = private("tensorflow.python.autograph.core.config")
    if config is None:
        return False
    try:
        rule = config.DoNotConvert(package)
        if not any(type(each) is type(rule) and str(each) == str(rule) for each in config.CONVERSION_RULES):
            config.CONVERSION_RULES = (rule, *config.CONVERSION_RULES)
    except (AttributeError, TypeError):
        return False
    return True
