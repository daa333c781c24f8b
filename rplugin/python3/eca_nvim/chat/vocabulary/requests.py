"""Requests to the user: the answers and fields of one, and the digest of what was shown."""

from collections.abc import Mapping
from enum import StrEnum
from hashlib import blake2b
from typing import TypeAlias

from msgspec import Struct
from msgspec.msgpack import Encoder

from eca_nvim.chat.vocabulary.call_details import HunkChoice


class ChoiceKind(StrEnum):
    """What an answer means, as far as the kind tells (ACP: PermissionOptionKind)."""

    ALLOW_ONCE = "allow_once"
    ALLOW_ALWAYS = "allow_always"
    REJECT_ONCE = "reject_once"
    REJECT_ALWAYS = "reject_always"


ALLOWING = frozenset({ChoiceKind.ALLOW_ONCE, ChoiceKind.ALLOW_ALWAYS})
"""Kinds of answers with which the call runs."""


class Choice(Struct, frozen=True):
    """One answer; `name` is the agent's, and says how far the answer goes.

    remembers: what the agent remembers with it, one item each, if the name does not say it.
    """

    id: str
    name: str
    kind: ChoiceKind
    remembers: tuple[str, ...] = ()


ALLOW = Choice("allow", "allow", ChoiceKind.ALLOW_ONCE)
REJECT = Choice("reject", "reject", ChoiceKind.REJECT_ONCE)

_PLAIN_NAMES = {
    ChoiceKind.ALLOW_ONCE: {"accept", "allow", "allow once", "approve", "proceed", "yes"},
    ChoiceKind.ALLOW_ALWAYS: {"allow always", "always", "always allow"},
    ChoiceKind.REJECT_ONCE: {"cancel", "deny", "no", "reject", "reject once"},
    ChoiceKind.REJECT_ALWAYS: {"always reject", "never", "reject always"},
}
"""Names that say no more than their kind."""


def needs_list(choices: tuple[Choice, ...]) -> bool:
    """Return whether the user must see all names: two are of one kind, or a name says more."""
    kinds = [choice.kind for choice in choices]
    if len(set(kinds)) < len(kinds) or ChoiceKind.REJECT_ALWAYS in kinds:
        return True
    names = ((it, it.name.casefold().strip(" .!").replace(", ", " ")) for it in choices)
    return any(name not in _PLAIN_NAMES[choice.kind] for choice, name in names)


Value: TypeAlias = str | int | float | bool | tuple[str, ...]
"""What a field is answered with; a tuple has the values of several choices."""


class FieldKind(StrEnum):
    """What a field can be answered with."""

    TEXT = "text"
    WHOLE = "whole number"
    NUMBER = "number"
    YES_NO = "yes or no"
    ONE = "one choice"
    SEVERAL = "several choices"


class TextFormat(StrEnum):
    """What a text must be."""

    EMAIL = "email"
    URI = "uri"
    DATE = "date"
    DATE_TIME = "date-time"


class Offer(Struct, frozen=True):
    """A choice: `value` is sent, `name` shown."""

    value: str
    name: str
    description: str = ""


class FormField(Struct, frozen=True, kw_only=True):
    """A question of a form.

    name: of the answer in what is sent. default: for an empty answer; it fits. least, most: a
    number, the characters of a text, or how many choices; both inclusive. pattern: one the agent
    checks, because a pattern of others may take for ever. secret: the answer is shown nowhere.
    """

    name: str
    kind: FieldKind
    title: str
    description: str = ""
    required: bool = False
    default: Value | None = None
    least: float | None = None
    most: float | None = None
    format: TextFormat | None = None
    pattern: str = ""
    offers: tuple[Offer, ...] = ()
    secret: bool = False


_encode = Encoder().encode
LOOKS = frozenset({"marks"})
"""Keys of an item of the op `pending` that only affect its looks."""


class DiskReport(Struct, frozen=True):
    """What a look at the disk says of a call: warnings, one line each.

    is_obeyed: it changes a file that a shell, git, an editor or an agent obeys.
    """

    warnings: tuple[str, ...] = ()
    is_obeyed: bool = False


class Request(Struct, eq=False):
    """A request that has waited for the user since a time (ms).

    id: unique, unlike the agent's ids. digest: None until the request has been shown as
    it is now. version: counts the different versions of the agent's that were shown. is_whole: it
    can be read to its end. on_disk: what a look at the disk has given. chosen: what the user takes
    of it; None: all.
    """

    id: str
    since: int
    digest: str | None = None
    version: int = 0
    is_whole: bool = True
    on_disk: DiskReport = DiskReport()
    chosen: HunkChoice | None = None
    _hash: str | None = None
    _by_user: bool = False

    def show(self, item: Mapping[str, object], behind: object) -> str:
        """Return the digest of an item as shown from now on; `behind` is the whole request.

        It also covers what is too long to be shown, such as the rest of a diff. None is used twice:
        of a request that changes and changes back the user has to see the last state.
        """
        shown = {key: value for key, value in item.items() if key not in LOOKS}
        fresh = fingerprint(shown, behind)
        if fresh is None or fresh != self._hash:
            self._hash = fresh
            self.version += not self._by_user
        self._by_user = False
        self.digest = f"{self.version}-{fresh}"
        return self.digest

    def changed(self) -> None:
        """Note that the request has changed: no answer fits until it is shown again.

        What the user has chosen of it is void.
        """
        self.digest, self.chosen, self._by_user = None, None, False

    def choose(self, chosen: HunkChoice | None) -> None:
        """Note what the user takes; that is no other version of the agent's request."""
        self._by_user = self.digest is not None
        self.digest, self.chosen = None, chosen


def is_same(left: object, right: object) -> bool:
    """Return whether two values look the same; unlike `==` it tells 1, 1.0 and True apart (hot).

    Values nested too deeply to be compared count as different.
    """
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, str):
        return left == right
    try:
        return _encode(left) == _encode(right)
    except RecursionError:
        return False
    except (OverflowError, ValueError):  # a number over 64 bits, half of a surrogate pair
        found = fingerprint(left)
        return found is not None and found == fingerprint(right)


def fingerprint(*values: object) -> str | None:
    """Return a hash, or None if the values are nested too deeply."""
    try:
        text = repr(values)
    except RecursionError:
        return None
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()
