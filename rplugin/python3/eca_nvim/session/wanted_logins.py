"""Wanted logins: which servers have asked for one, and have not worked since, in any project.

It outlives Neovim, in a file beside those of the projects: an account is not that of a project.
"""

import logging
from typing import Final

from eca_nvim.store import Store, StoreChanges, StoreDamaged

PATIENCE: Final = 0.2
"""Seconds that a change waits for another Neovim, which writes the same file for a moment."""
_KIND: Final = "login wanted "
_WANTED, _DONE = "yes", ""

log = logging.getLogger(__name__)


class WantedLogins:
    """The names of these servers; store: None to know them as long as this Neovim."""

    def __init__(self, store: Store | None) -> None:
        self._store = store
        self._names: frozenset[str] | None = None

    def look(self) -> frozenset[str]:
        """Return the names, as the file has them now; blocks for a moment."""
        self._names = self._names or frozenset()
        if self._store is not None:
            try:
                choices = self._store.read().choices
            except (StoreDamaged, OSError) as fault:
                log.info("wanted logins are not known: %s", fault)
            else:
                told = (it for it, value in choices.items() if value == _WANTED)
                self._names = frozenset(it.removeprefix(_KIND) for it in told)
        return self._names

    def __contains__(self, name: str) -> bool:
        """Return whether a server is one of them, as far as this Neovim knows."""
        return name in (self.look() if self._names is None else self._names)

    def note(self, name: str, *, wanted: bool) -> None:
        """Note that a server wants a login, or does not any more."""
        if wanted == (name in self):
            return
        self._names = self.look() | {name} if wanted else self.look() - {name}
        if self._store is not None:
            change = StoreChanges(choices={f"{_KIND}{name}": _WANTED if wanted else _DONE})
            try:
                self._store.write(change, PATIENCE)
            except (StoreDamaged, OSError) as fault:
                log.warning("that %s wants a login is not saved: %s", name, fault)
