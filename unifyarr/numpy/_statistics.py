"""Averages, order statistics, histograms and correlations."""

from __future__ import annotations

__all__: list[str] = []
