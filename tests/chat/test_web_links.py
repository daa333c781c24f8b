"""Web links: the host that the user is shown is the one that his browser opens."""

import pytest

from eca_nvim.chat.text.safe_text import host_of


@pytest.mark.parametrize(
    ("link", "host"),
    [
        ("https://a.example/b?c=d#e", "a.example"),
        ("http://bank.example@evil.example:8/x", "evil.example"),
        ("https://evil.example#@bank.example/", "evil.example"),
        ("https://[::1]:8080/", "::1"),
        ("https://evil.example\\@bank.example/", None),
        ("https://evil.example\t@bank.example/", None),
        ("https://b\N{CYRILLIC SMALL LETTER A}nk.example/", None),
        ("https://a.example/\x7f", None),
        ("https:bank.example", None),
        ("http://[", None),
        ("javascript:alert(1)", None),
        ("", None),
    ],
)
def test_the_host_is_the_one_that_is_opened(link: str, host: str | None) -> None:
    assert host_of(link) == host
