"""When a server can take a prompt: after initialize, as soon as it knows its models.

Today's server loads them after `initialized` and refuses a prompt without a model until then; an
older one knows them from the start and says nothing more. So: at once when models were named, when
their loading ends with or without any, or when nothing is heard of models for a while.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import anyio

from eca_nvim.protocol.eca.notices import ProgressKind, TaskProgress

SILENCE_SECONDS: Final = 1.0
"""How long to wait for a first word on models; a busy JVM needs a tenth of that."""

LOADING_SECONDS: Final = 20.0
"""How long models may load: the server asks for them over the network."""

_MODELS_TASK: Final = "models"


class Readiness:
    """Waits for a server's models, and says once that it is ready."""

    def __init__(self) -> None:
        self._heard = anyio.Event()
        self._settled = anyio.Event()
        self._ready: Callable[[], None] | None = None  # from the introduction until it is called

    def introduced(self, ready: Callable[[], None]) -> None:
        """Take that the server knows us, and what to call when it can take a prompt."""
        self._ready = ready

    def models_known(self, models: tuple[str, ...] | None) -> None:
        """Take the models the server named; none, or none yet, changes nothing."""
        if models:
            self._settle()

    def progressed(self, progress: TaskProgress) -> None:
        """Take the beginning or end of a start-up task."""
        if progress.task_id != _MODELS_TASK:
            return
        if progress.type is ProgressKind.FINISH:
            self._settle()
        else:
            self._heard.set()

    @property
    def is_due(self) -> bool:
        """Whether the server can take a prompt, and nobody was called for that yet."""
        return self._ready is not None and self._settled.is_set()

    def announce(self) -> None:
        """Call that the server is ready, unless that was done."""
        ready, self._ready = self._ready, None
        if ready is not None:
            ready()

    async def wait(self) -> None:
        """Announce a server that is introduced, at the latest when it was silent for long."""
        with anyio.move_on_after(SILENCE_SECONDS):
            await self._heard.wait()
        if self._heard.is_set():
            with anyio.move_on_after(LOADING_SECONDS):
                await self._settled.wait()
        self.announce()

    def _settle(self) -> None:
        self._heard.set()
        self._settled.set()
