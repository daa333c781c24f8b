"""The figures as a table for people, and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TypeAlias

from bench.figures import Figure

Report: TypeAlias = Mapping[str, Sequence[Figure]]
"""Figures by Neovim version; each version has the same ones."""


def render(report: Report) -> str:
    """Return a Markdown table: a row for each figure, a column for each version."""
    rows = [["what", "target", *(f"Neovim {version}" for version in report)]]
    for figures in zip(*report.values(), strict=True):
        target = f"≤ {_number(figures[0].target)} {figures[0].unit}".rstrip()
        if len({figure.target for figure in figures}) > 1:
            target = " / ".join(f"≤ {_number(figure.target)}" for figure in figures)
            target = f"{target} {figures[0].unit}"
        rows.append([figures[0].name, target, *map(_cell, figures)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join(_line(row, widths) for row in rows)


def to_json(report: Report) -> str:
    """Return the figures as JSON: lists by version."""
    plain = {
        version: [asdict(figure) | {"held": figure.verdict.name == "HELD"} for figure in figures]
        for version, figures in report.items()
    }
    return json.dumps(plain, indent=1, ensure_ascii=False)


def _cell(figure: Figure) -> str:
    """Return the value and, in brackets, the values behind it."""
    value = f"{figure.verdict.value} {_number(figure.value)} {figure.unit}".rstrip()
    if figure.ours and figure.floor:
        return f"{value} ({figure.ours}, floor {figure.floor})"
    if figure.floor:
        return f"{value} (floor {figure.floor})"
    return f"{value} ({figure.ours})" if figure.ours else value


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if value < 10 else f"{value:.0f}"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(map(str.ljust, row, widths)) + " |"
