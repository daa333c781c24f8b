"""Readiness: decides when a server can accept a prompt: once it knows its models.

Today's server loads its models after `initialized`, and until then refuses a prompt without a
model. An older one knows them from the start and reports no more. So a server is ready when it has
named models, when loading them has ended, or when it says nothing about models for a while.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import anyio

from eca_nvim.protocol.eca.lifecycle import ProgressKind, TaskProgress

SILENCE_SECONDS: Final = 1.0
"""Time to wait for a first message about models; a busy JVM needs a tenth of that."""

LOADING_SECONDS: Final = 20.0
"""Time for models to load: the server requests them over the network."""

_MODELS_TASK: Final = "models"


class Readiness:
    """Waits for a server's models, and announces once that it is ready."""

    def __init__(self) -> None:
        self._loading = anyio.Event()
        self._settled = anyio.Event()
        self._ready: Callable[[], None] | None = None  # from the introduction until it is called

    def introduced(self, ready: Callable[[], None]) -> None:
        """Note that initialize is done; `ready` is called once the server can accept a prompt."""
        self._ready = ready

    def models_known(self, models: tuple[str, ...] | None) -> None:
        """Note the models that the server has named, if any."""
        if models:
            self._settle()

    def progressed(self, progress: TaskProgress) -> None:
        """Note the start or end of a start-up task."""
        if progress.task_id != _MODELS_TASK:
            return
        if progress.type is ProgressKind.FINISH:
            self._settle()
        else:
            self._loading.set()

    @property
    def is_due(self) -> bool:
        """Whether the server can accept a prompt, and this was not announced yet."""
        return self._ready is not None and self._settled.is_set()

    def announce(self) -> None:
        """Announce that the server is ready, unless it was done."""
        ready, self._ready = self._ready, None
        if ready is not None:
            ready()

    async def wait(self) -> None:
        """Announce the server as soon as it is ready, or after a timeout."""
        with anyio.move_on_after(SILENCE_SECONDS):
            await self._loading.wait()
        if self._loading.is_set():
            with anyio.move_on_after(LOADING_SECONDS):
                await self._settled.wait()
        self.announce()

    def _settle(self) -> None:
        self._loading.set()
        self._settled.set()
