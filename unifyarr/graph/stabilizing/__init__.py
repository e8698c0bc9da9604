"""Identities that keep digits: formulas replaced by equal ones that neither overflow nor cancel."""
