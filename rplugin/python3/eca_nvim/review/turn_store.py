"""Turn store: what turns have changed, kept with the checkpoints for the Neovims to come.

Each turn is a reference to a commit: its message says which turn it is, and its tree has the record
of its files and all contents that it names, else git would remove them.

Rules kept here:
- What was running as a Neovim was killed ends as the files are found; others may have changed them
  meanwhile, so that is uncertain.
- All calls block: they run in a thread.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from eca_nvim.digests import name_digest
from eca_nvim.review.checkpoint_store import CheckpointStore
from eca_nvim.review.git import GitFailed
from eca_nvim.review.repository import TREE, entry
from eca_nvim.review.snapshots import Blob
from eca_nvim.review.turn_changes import TurnChanges
from eca_nvim.system import start_time

REFERENCES: Final = "refs/turns/"
_RECORD: Final = "record"
_ABOUT: Final = ("chat", "turn", "prompt", "process", "began", "until", "is_open")
"""What the message of the commit says of a turn, so that many are listed at once."""
_SAVED: Final = ("files", "unknown", "odd_names", "running", "starts", "kept")
"""What the record says, as in `TurnChanges`."""


def save_turn(store: CheckpointStore, turn: TurnChanges) -> tuple[str, str]:
    """Save a turn; return the name by which it is saved, and the commit. Raises GitFailed."""
    name = turn.saved or f"{_folder(turn.chat)}{turn.began}-{turn.process}"
    contents = dict[str, Blob]()

    def noted(blob: Blob) -> str:
        contents[blob.digest] = blob
        return blob.digest

    told = msgspec.to_builtins(turn, enc_hook=noted)
    record = json.dumps({key: told[key] for key in _SAVED}).encode()
    entries = [entry(_RECORD.encode(), record)]
    for digest, blob in contents.items():
        content = blob.content  # None: the store has it
        entries.append(entry(digest.encode(), digest if content is None else content))
    entries += [entry(b"start-%d" % n, it.id, TREE) for n, it in enumerate(turn.starts)]
    about = {it: told[it] for it in _ABOUT}
    commit, _ = store.commit(f"{REFERENCES}{name}", about, entries)
    for blob in contents.values():
        blob.content = None
    return name, commit


def load_turns(
    store: CheckpointStore, chat: str, known: Mapping[str | None, str | None], process: int
) -> Sequence[TurnChanges]:
    """Return the turns of a chat, but for `known` commits, by name.

    process: our Neovim; what a host of it before us has begun is over. What runs in another is
    not told.

    Raises GitFailed.
    """
    listed = _list(store, _folder(chat))
    found = (_load(store, it) for it in listed if known.get(it.saved) != it.commit)
    turns = [it for it in found if it is not None]
    for turn in turns:
        if turn.process != process and _is_there(turn):
            turn.running, turn.starts = {}, []
    return turns


def last_numbers(store: CheckpointStore, own: Collection[str | None]) -> Mapping[str, int]:
    """Return the number of the last turn of each chat. Raises GitFailed.

    own: where turns are saved that do not count, as they have begun meanwhile.
    """
    last: dict[str, int] = {}
    for turn in _list(store):
        if turn.saved not in own:
            last[turn.chat] = max(last.get(turn.chat, 0), turn.number)
    for kept in store.checkpoints():
        chat, number = kept.about.get("chat"), kept.about.get("turn")
        if isinstance(chat, str) and isinstance(number, int):
            last[chat] = max(last.get(chat, 0), number)
    return last


def others_ran(store: CheckpointStore, process: int, first: int, last: int) -> bool:
    """Return whether turns of other Neovims had commands at a time. Raises GitFailed."""
    return any(
        it.process != process
        and it.began < last
        and (it.until > first or (not it.until and _is_there(it)))
        for it in _list(store)
    )


def _load(store: CheckpointStore, listed: TurnChanges) -> TurnChanges | None:
    try:
        record = json.loads(store.content(f"{listed.commit}:{_RECORD}"))
        told = {**msgspec.to_builtins(listed), **record}
        return msgspec.convert(told, TurnChanges, dec_hook=lambda _, it: Blob(it, store.read))
    except (GitFailed, ValueError, msgspec.ValidationError):  # damaged, or of a later version
        return None


def _is_there(turn: TurnChanges) -> bool:
    """Return whether the Neovim of a turn still runs."""
    return start_time(turn.process) is not None


def forget_turns(store: CheckpointStore, before: int) -> None:
    """Forget turns that began before a time (ns since 1970) and are not open. Raises GitFailed."""
    old = (it.saved or "" for it in _list(store) if it.began < before and not it.is_open)
    store.drop(old, REFERENCES)


def open_turns(store: CheckpointStore) -> Collection[tuple[str, int]]:
    """Return chat and number of the turns that are open. Raises GitFailed."""
    return {(it.chat, it.number) for it in _list(store) if it.is_open}


def _list(store: CheckpointStore, folder: str = "") -> Iterator[TurnChanges]:
    """Yield the turns, without what they have changed."""
    for name, commit, _, about in store.references(f"{REFERENCES}{folder}"):
        with suppress(msgspec.ValidationError):
            told = {key: it for key, it in about.items() if key in _ABOUT}
            told |= {"saved": f"{folder}{name}", "commit": commit}
            yield msgspec.convert(told, TurnChanges)


def _folder(chat: str) -> str:
    """Return where the turns of a chat are saved."""
    return f"{name_digest(chat.encode(errors='replace'))}/"
