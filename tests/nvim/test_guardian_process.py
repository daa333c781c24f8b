"""The host's side of its guardian."""

import os
import subprocess

import pytest

from eca_nvim.nvim.guardian_process import Guardian


def test_a_host_without_a_guardian_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_many(*_: object, **__: object) -> None:
        raise BlockingIOError("too many processes")

    monkeypatch.setattr(subprocess, "Popen", too_many)
    guardian = Guardian()
    guardian.watch(os.getpid())
    assert not guardian.let_servers_exit()
    guardian.wake()
