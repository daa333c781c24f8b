"""The clipboard's image in a file, by the programs that the system has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eca_nvim.chat.vocabulary.query_intents import PasteImage
from eca_nvim.session.requests import images
from eca_nvim.session.requests.images import Images

pytestmark = pytest.mark.anyio

PNG = rb"\211PNG\r\n\032\n data"
JPEG = rb"\377\330\377 data"


class Desktop:
    """Programs on the PATH, and what `:Eca paste` says there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, name: str, code: str) -> None:
        """Install a program, a shell script; it notes its arguments."""
        program = self.folder / name
        program.write_text(f'#!/bin/sh\necho "$@" >> {self.folder}/{name}.log\n{code}\n')
        program.chmod(0o755)

    def calls(self, name: str) -> list[str]:
        return (self.folder / f"{name}.log").read_text().splitlines()

    async def paste_into(self, images: Images) -> Path:
        return Path((await self.paste(images))["path"])

    async def paste(self, images: Images) -> dict[str, Any]:
        return {**await images.paste(PasteImage(1))}


def read(path: Path) -> tuple[str, bytes, int] | None:
    """Return the suffix and bytes of a file, and who may read its folder."""
    if not path.exists():
        return None
    return path.suffix, path.read_bytes(), path.parent.stat().st_mode & 0o777


@pytest.fixture
def desktop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desktop:
    monkeypatch.setenv("PATH", f"{tmp_path}")
    return Desktop(tmp_path)


async def test_the_first_program_with_an_image_is_taken(desktop: Desktop) -> None:
    images = Images()
    desktop.install("wl-paste", "exit 1")
    desktop.install(
        "xclip", f"case \"$*\" in *jpeg) printf '{JPEG.decode()}';; *) printf 'error';; esac"
    )
    desktop.install("pngpaste", f"printf '{PNG.decode()}'")
    path = await desktop.paste_into(images)
    assert read(path) == (".jpg", b"\xff\xd8\xff data", 0o700)
    assert desktop.calls("wl-paste") == ["--type image/png", "--type image/jpeg"]
    assert desktop.calls("xclip") == [
        f"-selection clipboard -o -t image/{it}" for it in ("png", "jpeg")
    ]
    (desktop.folder / "xclip").unlink()
    path = await desktop.paste_into(images)
    assert read(path) == (".png", b"\x89PNG\r\n\x1a\n data", 0o700)
    images.remove()
    assert read(path) is None


async def test_why_there_is_no_image_is_one_line(
    desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = Images()
    none = "no program reads the clipboard: install wl-paste, xclip or pngpaste"
    assert await desktop.paste(images) == {"fault": none}
    desktop.install("xclip", "printf '<svg onload=alert(1)>'")
    desktop.install("pngpaste", f"printf '{PNG.decode()}'; exit 1")
    empty = "no image in the clipboard, says xclip and pngpaste: copy one first"
    assert await desktop.paste(images) == {"fault": empty}
    desktop.install("wl-paste", f"printf '{PNG.decode()}'; while :; do echo xxxxxxxxxxxx; done")
    monkeypatch.setattr("eca_nvim.session.requests.images.MOST_IMAGE_BYTES", 1000)
    large = "the clipboard's image is larger than 20 MB: save it smaller, and name it"
    assert await desktop.paste(images) == {"fault": large}


async def test_a_program_that_hangs_is_given_up(
    desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that has left a process of its own behind, which keeps the output open."""
    monkeypatch.setattr(images, "SECONDS", 0.05)
    for code in ("while :; do :; done", "set -m; /bin/sleep 2 & exit 0"):
        desktop.install("wl-paste", code)
        fault = (await desktop.paste(Images()))["fault"]
        assert fault.startswith("wl-paste did not answer for ")
    monkeypatch.setattr(images, "SECONDS", 5.0)
    desktop.install("wl-paste", "kill -SEGV $$")
    assert (await desktop.paste(Images()))["fault"].startswith("no image in the clipboard")
