r"""Redaction: hides what looks like a key or a password in text that is logged or shown.

Rules kept here:
- The cost is linear in the length of the text: one pattern of bounded length finds the anchors (the
  name or the start of a secret), and the text after an anchor is read once.
- In doubt a word is hidden. The name of a value stays, so that a reader knows what was there.

Neovim runs this file with text on standard input, and reads what is left of it from standard output
(`lua/eca/health/secrets.lua`).
"""

from __future__ import annotations

import json
import re
import sys
from functools import lru_cache
from typing import Final

HIDDEN: Final = "[hidden]"
SHORTEST_ANSWER: Final = 4
"""Characters. Shorter answers are choices ("1", "yes"): hiding them would garble every line."""
SHORTEST_SHOWN: Final = 8
"""Characters. A shorter secret of the user is not hidden in a chat: it may be any word there."""
SHORTEST_KEY: Final = 6
"""Characters after the prefix of a key: `sk-learn` is not a key."""
SHORTEST_PLAIN: Final = 16
"""Characters. A shorter value of a field that is only called `key` names something."""
ALL_HIDDEN: Final = frozenset({"env", "environment", "headers"})
"""Fields with names of the user's own: what has these names is hidden, whatever they are."""
SHORTEST_LETTERS: Final = 16
"""Letters and digits after a prefix of `_WITH_LETTERS`: `npm_config_cache` is not a key."""

_ANCHOR = re.compile(
    r"authorization|cookie|bearer|token|secret|pass(?:word|wd|phrase)?|key"
    r"|sk-|gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|xapp-|akia|hooks\.slack\.com/services/|[?&]sig="
    r"|(?-i:ya29\.|pypi-AgE|ASIA|AIza|SG\.|eyJ|[prs]k_live_|[prs]k_test_|whsec_|npm_|hf_|gsk_|xai-"
    r"|pplx-|dop_v1_|shpat_|PRIVATE KEY-----)|://|[\"']name(?=\\*[\"'])",
    re.IGNORECASE | re.ASCII,
)
_WITH_LETTERS: Final = frozenset(
    {"ASIA", "AIza", "SG.", "eyJ", "whsec_", "npm_", "hf_", "gsk_", "xai-", "pplx-", "dop_v1_"}
    | {"shpat_", *(f"{kind}k_{use}_" for kind in "prs" for use in ("live", "test"))}
)
"""Prefixes of keys that ordinary words also have."""
_BEFORE_KEY: Final = ("_", "-", ":", "api", "api ", "access", "auth", "private", "secret", "?", "&")
"""A name that ends with `key` is a secret's after one of these, or in camel case (`apiKey`)."""
LONGEST_BEFORE_KEY: Final = max(map(len, _BEFORE_KEY))
LONGEST_OPTION: Final = 24
"""Characters of an option (`--api-key`) before the anchor."""
LONGEST_KIND: Final = 32
"""Characters of the line before `PRIVATE KEY-----`."""
_WHOLE_LINES: Final = frozenset({"authorization", "cookie"})
_NAMES: Final = _WHOLE_LINES | frozenset(
    ("token", "secret", "pass", "password", "passwd", "passphrase", "key")
)
_QUOTE = re.compile(r"""\\*["']""")
_STOP = re.compile(r"""\\+["']?|["'\r\n]""")
_TO_VALUE = re.compile(
    r"[ \t]*(?:[=:]>?|(?:%22)?%3[ADad])[ \t]*"
    r"|(?:[ \t]+|[ \t]*(?:\n|\\+n)[ \t]+)(?=\\*[\"'])"
)
_LINE = re.compile(r"[^\r\n]+")
_WORD = re.compile(r"\S+")
_KEY = re.compile(r"[\w.~+/=%-]+", re.ASCII)
_LETTERS = re.compile(r"[a-zA-Z0-9]+")
_PASSWORD = re.compile(r"[^\s/@:\"']*:([^\s/@\"']+)@")
_BLANKS = re.compile(r"[ \t]+")
_OPTION = re.compile(r"(?:^|[\s\"'])--[^\s\"']*\Z")
_TO_NEXT_ITEM = re.compile(r"[ \t]*,[ \t]*(?=\\*[\"'])")
_TO_NAMED_VALUE = re.compile(
    r"""\\*["']\s*:\s*\\*["'][^"'\\]*\\*["']\s*,\s*\\*["']value\\*["']\s*:\s*""", re.ASCII
)


class Redactor:
    """Hides what looks like a secret, and the texts that were registered to be hidden."""

    def __init__(self) -> None:
        self._answers: list[str] = []
        self.typed: set[str] = set()
        """The secrets that the user has typed; chats hide them, too."""

    def hide(self, text: str) -> None:
        """Register a text to be hidden, line by line; lines too short for a secret are not.

        A line is also found as Python and JSON quote it.
        """
        answers = set(self._answers)
        for line in map(str.strip, text.splitlines()):
            if len(line) >= SHORTEST_ANSWER:
                quoted = (repr(line), json.dumps(line), json.dumps(line, ensure_ascii=False))
                answers.update((line, *(form[1:-1] for form in quoted)))
        self._answers = sorted(answers, key=len, reverse=True)

    def hide_typed(self, text: str) -> None:
        """Register a secret that the user has typed: it is hidden in chats as well."""
        self.hide(text)
        if len(secret := text.strip()) >= SHORTEST_SHOWN:
            self.typed.add(secret)

    def without_typed(self, text: str) -> str:
        """Return the text with `[hidden]` in the place of each secret that the user has typed."""
        for secret in self.typed:
            text = text.replace(secret, HIDDEN)
        return text

    def redact(self, text: str) -> str:
        """Return the text with `[hidden]` in the place of each secret."""
        for answer in self._answers:
            text = text.replace(answer, HIDDEN)
        return without_keys(text)

    def redact_json(self, value: object, name: str = "", *, is_own: bool = False) -> object:
        """Return decoded JSON with `[hidden]` in the place of each secret.

        name: the field whose value it is. is_own: it is in a field of `ALL_HIDDEN`.
        """
        is_own = is_own or name.lower() in ALL_HIDDEN  # also of texts and lists: `FOO=x`
        if isinstance(value, dict):
            inner = is_own or _names_secret(name)
            return {
                self.redact(key): self.redact_json(item, key, is_own=inner)
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [
                HIDDEN
                if place and _hides_next(value[place - 1]) and isinstance(item, str)
                else self.redact_json(item, name, is_own=is_own)
                for place, item in enumerate(value)
            ]
        if isinstance(value, str):
            is_secret = (is_own and name != "name") or _names_secret(name)
            if is_secret or (name.lower() == "key" and len(value) >= SHORTEST_PLAIN):
                return HIDDEN if value else ""
            return self.redact(value)
        is_number = isinstance(value, (int, float))
        return HIDDEN if is_number and (is_own or name.lower() == "password") else value


def _hides_next(option: object) -> bool:
    """Return whether an argument of a command is an option that a secret follows."""
    return isinstance(option, str) and option.startswith("-") and _names_secret(f"{option} ")


@lru_cache(1024)
def _names_secret(name: str) -> bool:
    """Return whether a field or option of this name is a secret's."""
    return bool(name) and without_keys(f"{name if name[-1] == ' ' else name + ': '}x")[-1] != "x"


def without_keys(text: str) -> str:
    """Return the text with `[hidden]` in the place of everything that looks like a secret."""
    parts: list[str] = []
    kept = 0
    anchor = _ANCHOR.search(text)
    while anchor is not None:
        start, end = _secret(text, anchor)
        if start < end:
            parts += (text[kept:start], HIDDEN)
            kept = end
        anchor = _ANCHOR.search(text, end)
    return "".join((*parts, text[kept:]))


def _secret(text: str, anchor: re.Match[str]) -> tuple[int, int]:
    """Return the range of the secret that an anchor begins or names; empty if there is none."""
    word, nothing = anchor.group().lower(), (anchor.end(), anchor.end())
    if word == "bearer":
        blanks = _BLANKS.match(text, anchor.end())
        return _run(_KEY, text, blanks.end()) if blanks else nothing
    if word in _NAMES:
        return _value(text, anchor) if _is_secret_name(text, anchor) else nothing
    if word[1:] == "name":
        return _quoted(text, _TO_NAMED_VALUE.match(text, anchor.end())) or nothing
    if word == "://":
        password = _PASSWORD.match(text, anchor.end())
        return password.span(1) if password else nothing
    if word == "private key-----":
        return _key_block(text, anchor)
    if word == "sk-" and not _begins_word(text, anchor.start()):
        return nothing
    if anchor.group() in _WITH_LETTERS:
        start, end = _run(_LETTERS, text, anchor.end())
        return _run(_KEY, text, start) if end - start >= SHORTEST_LETTERS else nothing
    start, end = _run(_KEY, text, anchor.end())
    return (start, end) if end - start >= SHORTEST_KEY else nothing


def _begins_word(text: str, at: int) -> bool:
    r"""Return whether a word begins here, also after an escape sequence (a literal `\n`, `…m`)."""
    last, before = text[max(0, at - 1) : at], text[max(0, at - 2) : max(0, at - 1)]
    return not last.isalnum() or before == "\\" or (last == "m" and not before.isalpha())


def _is_secret_name(text: str, anchor: re.Match[str]) -> bool:
    name = anchor.group().lower()
    if name == "key":
        return _is_secret_key(text, anchor)
    if name == "pass":  # `DB_PASS`, but not `passes`
        return text[max(0, anchor.start() - 1) : anchor.start()] == "_"
    return True


def _key_block(text: str, anchor: re.Match[str]) -> tuple[int, int]:
    """Return the range between the first and the last line of a private key."""
    before = text[max(0, anchor.start() - LONGEST_KIND) : anchor.start()]
    if not before.rpartition("-----")[2].startswith("BEGIN"):
        return anchor.end(), anchor.end()
    end = text.find("-----END", anchor.end())
    return anchor.end(), end if end >= 0 else len(text)


def _is_secret_key(text: str, anchor: re.Match[str]) -> bool:
    """Return whether a name ending with `key` is a secret's: `API_KEY`, `apiKey`; not `monkey`."""
    before = text[max(0, anchor.start() - LONGEST_BEFORE_KEY) : anchor.start()]
    is_camel = anchor.group().startswith("K") and before[-1:].islower()
    return is_camel or before.lower().endswith(_BEFORE_KEY)


def _value(text: str, name: re.Match[str]) -> tuple[int, int]:
    """Return the range of a name's value.

    Forms: `NAME=…`, `"name": "…"`, `name: …`, `:name "…"`, `--name …`, `"--name", "…"`.
    Before an indented quote a line may end: Clojure prints long values so.
    """
    closing = _QUOTE.match(text, name.end())
    gap = _TO_VALUE.match(text, closing.end() if closing else name.end())
    if gap is None and _is_option(text, name):
        to_value = _TO_NEXT_ITEM if closing else _BLANKS
        gap = to_value.match(text, closing.end() if closing else name.end())
    if gap is None:
        return name.end(), name.end()
    words = _LINE if name.group().lower() in _WHOLE_LINES else _WORD
    return _quoted(text, gap) or _run(words, text, gap.end())


def _is_option(text: str, name: re.Match[str]) -> bool:
    before = text[max(0, name.start() - LONGEST_OPTION) : name.start()]
    return _OPTION.search(before) is not None


def _quoted(text: str, gap: re.Match[str] | None) -> tuple[int, int] | None:
    """Return the range of a quoted value after a gap; None if there is no gap or no quote."""
    opening = None if gap is None else _QUOTE.match(text, gap.end())
    return None if opening is None else (opening.end(), _closing(text, opening))


def _closing(text: str, opening: re.Match[str]) -> int:
    """Return the end of a quoted value: before the same quote, else at the end of its line."""
    quote, escapes = opening.group()[-1], len(opening.group()) - 1
    for stop in _STOP.finditer(text, opening.end()):
        mark = stop.group()[-1]
        if mark in "\r\n" or (mark == quote and len(stop.group()) - 1 <= escapes):
            return stop.start()
    return len(text)


def _run(pattern: re.Pattern[str], text: str, start: int) -> tuple[int, int]:
    found = pattern.match(text, start)
    return start, found.end() if found else start


if __name__ == "__main__":
    given = sys.stdin.buffer.read().decode(errors="surrogateescape")
    sys.stdout.buffer.write(without_keys(given).encode(errors="surrogateescape"))
