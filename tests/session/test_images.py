"""Images of a chat, opened by another program."""

import base64
from pathlib import Path

import pytest
from tests.session.rig import Rig

from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.ops import OpenBlock, OpenExternal
from eca_nvim.chat.vocabulary.turn_events import ImageReceived

pytestmark = pytest.mark.anyio

PNG = base64.b64encode(b"\x89PNG data").decode()


async def test_an_image_becomes_a_private_file_that_ends_with_the_host(rig: Rig) -> None:
    agent = await rig.ready()
    agent.say("a", ImageReceived("image/png", PNG))
    rig.do(intents.ActOnBlock("a", rig.view.of(OpenBlock)[-1].block))
    await rig.view.until(lambda: rig.view.of(OpenExternal))
    assert_private(Path(rig.view.of(OpenExternal)[0].target))
    agent.say("a", ImageReceived("image/png", "!"))
    rig.do(intents.ActOnBlock("a", rig.view.of(OpenBlock)[-1].block))
    await rig.view.until(lambda: "cannot open the image: it is not base64" in rig.lines())
    rig.session.kill()
    assert_gone(Path(rig.view.of(OpenExternal)[0].target))


def assert_gone(path: Path) -> None:
    assert not path.parent.exists()


def assert_private(path: Path) -> None:
    assert (path.read_bytes(), path.suffix) == (b"\x89PNG data", ".png")
    assert path.parent.stat().st_mode & 0o077 == 0


async def test_an_image_that_is_more_than_pixels_is_not_opened(rig: Rig) -> None:
    agent = await rig.ready()
    agent.say("a", ImageReceived("image/svg+xml", PNG))
    rig.do(intents.ActOnBlock("a", rig.view.of(OpenBlock)[-1].block))
    await rig.view.until(rig.lines)
    assert rig.view.of(OpenExternal) == []
    assert rig.lines() == ["cannot open the image: images of type 'image/svg+xml' are not opened"]
