"""Meanwhile: which files change while an agent answers that was asked to change none.

Rule kept here: both trees are kept as checkpoints, so what was changed can be undone.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from eca_nvim.chat.vocabulary.previews import ShowChangedMeanwhile
from eca_nvim.review.tree_changes import MOST_NAMED, TreeRequest
from eca_nvim.session.files.checkpoints import Checkpoints
from eca_nvim.session.servers import Servers
from eca_nvim.session.view import View, isolated


class Meanwhile:
    """Looks at the files of the workspace before and after an answer, if checkpoints are on."""

    def __init__(
        self, servers: Servers, view: View, checkpoints: Callable[[], Checkpoints]
    ) -> None:
        self._servers = servers
        self._view = view
        self._checkpoints = checkpoints

    @contextmanager
    def watched(self, place: str, asked: str) -> Iterator[None]:
        """Watch while a block runs; `asked`: what the agent does, for the list of checkpoints."""
        about, began = {"chat": place, "turn": 0}, time.monotonic()
        checkpoints = self._checkpoints()
        prompt = {"kind": "prompt", "title": "", "prompt": asked}
        before = checkpoints.want({**about, **prompt})
        try:
            yield
        finally:
            after = checkpoints.want({**about, "kind": "end"})
            tell = partial(self._tell, checkpoints, before, after, began)
            after.when_done(lambda: self._servers.start(tell))

    async def _tell(
        self, checkpoints: Checkpoints, before: TreeRequest, after: TreeRequest, began: float
    ) -> None:
        """Tell the view which files differ."""
        first, last = before.tree, after.tree
        if first is None or last is None:
            return
        roots = [it for it in first.roots if it in last.roots]
        with isolated(self._view, "compare two checkpoints", before):
            changed = await checkpoints.with_store(
                lambda store: store.changes(first.id, last.id, roots)
            )
            if changed:
                since = round((time.monotonic() - began) * 1000)
                paths = sorted(changed)[:MOST_NAMED]
                self._view.push([ShowChangedMeanwhile(paths, len(changed) - len(paths), since)])
