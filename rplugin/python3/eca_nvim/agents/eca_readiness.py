"""When a server can take a prompt: after initialize, as soon as it knows its models.

Today's server loads them after `initialized` and refuses a prompt without a model until then; an
older one knows them from the start and says nothing more. So: at once when models were named, when
their loading ends with or without any, or when nothing is heard of models for a while.
"""

from __future__ import annotations

from typing import Final

import anyio

from eca_nvim.protocol.eca.notices import ProgressKind, TaskProgress

SILENCE_SECONDS: Final = 1.0
"""How long to wait for a first word on models; a busy JVM needs a tenth of that."""

LOADING_SECONDS: Final = 20.0
"""How long models may load: the server asks for them over the network."""

_MODELS_TASK: Final = "models"


class Readiness:
    """Waits for a server's models."""

    def __init__(self) -> None:
        self._heard = anyio.Event()
        self._settled = anyio.Event()

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

    async def wait(self) -> None:
        """Return when a prompt can be sent."""
        with anyio.move_on_after(SILENCE_SECONDS):
            await self._heard.wait()
        if self._heard.is_set():
            with anyio.move_on_after(LOADING_SECONDS):
                await self._settled.wait()

    def _settle(self) -> None:
        self._heard.set()
        self._settled.set()
