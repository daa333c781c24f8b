"""Compares what was seen with what a row expects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from tests.generations.row import Row
from tests.support.generations.peer import MISUSE
from tests.support.wire import Message

Value: TypeAlias = Any


OUR_FAULT = "; see :Eca log"
"""Shown for an error of the plugin itself."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What was seen while a row was played, with the fields of `Row`.

    words: placeholders in the row; sent: messages of the client in that time; life: those in the
    whole life of the server.
    """

    words: Mapping[str, Value]
    sent: Sequence[Message]
    life: Sequence[Message]
    folder: Path
    texts: Mapping[str, str]
    statuses: Sequence[Mapping[str, Value]] = ()
    ends: Mapping[str, Value] = field(default_factory=dict)
    offers: Mapping[str, Value] = field(default_factory=dict)
    asked: Mapping[str, Value] = field(default_factory=dict)

    def faults(self, row: Row) -> list[str]:
        """List the differences from the row."""
        return [*self._shown(row), *self._told(row), *self._heard(row), *self._written(row)]

    def _shown(self, row: Row) -> Iterator[str]:
        for what, whole in self.texts.items():
            for text in getattr(row, what):
                if filled(text, self.words) not in whole:
                    yield f"not {what}: {text!r} in {whole}"
        yield from (f"shown: {it!r}" for it in row.hidden if it in self.texts["shown"])
        if row.whole not in (None, self.texts["shown"].strip()):
            yield f"not the whole: {row.whole!r}, it is {self.texts['shown']!r}"
        if OUR_FAULT in self.texts.get("told", ""):
            yield self.texts["told"]

    def _told(self, row: Row) -> Iterator[str]:
        for key, value in row.status.items():
            if not any(fits(value, status.get(key)) for status in self.statuses):
                yield f"no status: {key} = {value!r} in {self.statuses}"
        for what in ("ends", "offers", "asked"):
            wanted, got = filled(getattr(row, what), self.words), getattr(self, what)
            if not fits(wanted, got):
                yield f"not {what}: {wanted} in {got}"

    def _heard(self, row: Row) -> Iterator[str]:
        calls = [(it["method"], it.get("params")) for it in self.sent if "method" in it]
        answers = [it for it in self.sent if "method" not in it]
        for method, params in filled(row.sent, self.words):
            if not any(method == it and fits(params, got) for it, got in calls):
                yield f"not sent: {method} {params} in {calls}"
        for wanted in filled(row.answered, self.words):
            if not any(fits(wanted, it) for it in answers):
                yield f"not answered: {wanted} in {answers}"
        yield from (f"sent: {it}" for it in row.unsent if it in dict(calls))
        names = [it for it, _ in calls] + [f"({it})" for one in answers for it in one]
        for name, number in row.count.items():
            if names.count(name) != number:
                yield f"not {number} times: {name} in {names}"
        yield from (it["fault"] for it in self.life if it.get("method") == MISUSE)
        methods = [str(it.get("method")) for it in self.life]
        if not in_order(row.order, methods):
            yield f"not in order: {row.order} in {methods}"

    def _written(self, row: Row) -> Iterator[str]:
        for name, text in row.files.items():
            path = self.folder / name
            got = path.read_text(encoding="utf-8") if path.exists() else None
            if got != text:
                yield f"not in {name}: {text!r} but {got!r}"


def fits(wanted: Value, got: Value) -> bool:
    """Return whether a value has all that is wanted.

    An object must have the wanted fields: `...` is any value, None is no value. A list must have an
    item for each wanted one; if none is wanted, it must be empty.
    """
    if wanted is ...:
        return got is not None
    if isinstance(wanted, Mapping):
        is_object = isinstance(got, Mapping)
        return is_object and all(fits(value, got.get(key)) for key, value in wanted.items())
    if isinstance(wanted, list) and wanted:
        return isinstance(got, list | tuple) and all(
            any(fits(it, one) for one in got) for it in wanted
        )
    return bool(wanted == got)


def filled(value: Value, words: Mapping[str, Value]) -> Value:
    """Replace placeholders: `$folder`, `$pid`, `$name`."""
    if isinstance(value, str):
        if value in words:
            return words[value]
        for word, meant in words.items():
            value = value.replace(word, str(meant))
        return value
    if isinstance(value, Mapping):
        return {key: filled(item, words) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [filled(item, words) for item in value]
    return value


def in_order(wanted: Sequence[str], got: Sequence[str]) -> bool:
    """Return whether words come in this order, with anything between them."""
    rest = iter(got)
    return all(word in rest for word in wanted)
