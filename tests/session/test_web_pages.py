"""Pages that servers wanted to open: shown and copied, never opened, and not too many."""

import pytest
from tests.session.rig import Rig

from eca_nvim.chat.vocabulary.intents import OpenChat
from eca_nvim.chat.vocabulary.ops import CopyLink, Notify, OpenExternal
from eca_nvim.session import web_pages

pytestmark = pytest.mark.anyio

HOST = "login.example.org"
PAGE = f"https://{HOST}/authorize?state=abc"


async def test_a_page_is_shown_in_the_chat_of_its_server_and_copied(rig: Rig) -> None:
    await rig.ready()
    rig.session.web_pages.wanted("eca", PAGE)
    rig.session.web_pages.wanted("eca", PAGE)
    assert rig.view.text().count(PAGE) == 1
    assert "eca wants to open a page of login.example.org" in rig.view.text()
    assert rig.view.of(CopyLink) == [CopyLink(PAGE, HOST, "eca")]
    assert not rig.view.of(OpenExternal)


async def test_a_server_without_a_chat_has_its_page_copied(rig: Rig) -> None:
    rig.session.web_pages.wanted("n\x1bobody\u202e" + "x" * 100, PAGE)
    (copied,) = rig.view.of(CopyLink)
    assert copied.url == PAGE
    assert len(copied.server) <= web_pages.NAME_CELLS
    assert copied.server.isprintable()
    assert not rig.agents


@pytest.mark.parametrize(
    "address",
    [
        *("https://", "http://a\nb", "https://é.example/", "https://good.example\\@bad.example/"),
        *("file:///etc/passwd", "javascript:x", "https://a.example/" + "x" * 8000, "\x1b[31m"),
    ],
)
async def test_what_cannot_be_shown_whole_is_not_copied(address: str, rig: Rig) -> None:
    await rig.ready()
    rig.session.web_pages.wanted("eca", address)
    assert web_pages.REFUSED in rig.view.text()
    assert not rig.view.of(CopyLink)


async def test_a_thousand_pages_are_a_few_lines(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    await rig.ready()
    for number in range(1000):
        rig.session.web_pages.wanted("eca", f"{PAGE}{number}")
    assert len(rig.view.of(CopyLink)) == web_pages.MOST
    assert rig.view.text().count("wants to open") == web_pages.MOST + 1
    rig.session.web_pages.wanted("gone", PAGE)
    assert not rig.view.of(Notify)
    monkeypatch.setattr(web_pages, "SECONDS", 0.0)
    rig.session.web_pages.wanted("eca", PAGE)
    assert rig.view.of(CopyLink)[-1] == CopyLink(PAGE, HOST, "eca")


async def test_the_chat_that_was_used_last_shows_it(rig: Rig) -> None:
    await rig.ready()
    rig.do(OpenChat("b"))
    await rig.done()
    rig.session.web_pages.wanted("eca", PAGE)
    (shown,) = [op for op in rig.view.ops if PAGE in str(op) and hasattr(op, "chat")]
    assert getattr(shown, "chat", "") == "b"
