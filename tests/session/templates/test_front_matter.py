"""Front matter: a few lines of text, read as data; the rest is named."""

import pytest

from eca_nvim.session.templates.expansion import MalformedTemplate
from eca_nvim.session.templates.library import Template, read_template


def test_front_matter_and_text() -> None:
    text = (
        "---\n# for reviews\nname: review\n\ndescription: 'My: changes' \n"
        'agent:  "plan"\n---\n\nLook.\n\n'
    )
    assert read_template(text, "x") == Template("review", "My: changes", "plan", "Look.", 9)
    assert read_template(text.replace("\n", "\r\n"), "x").name == "review"
    assert read_template("\ufeff" + text, "x").agent == "plan"


def test_a_file_may_have_no_front_matter() -> None:
    assert read_template("Look.\n---\nAt it.", "my-look") == Template(
        "my-look", "", None, "Look.\n---\nAt it."
    )
    assert read_template("---\n---\nLook.", "x").name == "x"
    assert read_template("---\nagent:\n---\nLook.", "x").agent is None


@pytest.mark.parametrize(
    ("text", "fault", "line"),
    [
        ("---\nname: a\n", "'---' is missing", 1),
        ("---\nnmae: a\n---\nx", "unknown key 'nmae'", 2),
        ("---\nname: a\nname: b\n---\nx", "'name' is there twice", 3),
        ("---\nname\n---\nx", "expected 'key: text'", 2),
        ("---\n  name: a\n---\nx", "expected 'key: text'", 2),
        ("---\nname:a\n---\nx", "expected 'key: text'", 2),
        ("---\n- name: a\n---\nx", "expected 'key: text'", 2),
        ("---\ndescription: |\n---\nx", "expected text on this line", 2),
        ("---\nagent: !!python/object:os.system\n---\nx", "expected text on this line", 2),
        ("---\nname: a b\n---\nx", "a name has only letters", None),
        ("---\nname: ../x\n---\nx", "a name has only letters", None),
        ("---\nname: a\n---\n\n \n", "there is no text", None),
        ("", "there is no text", None),
        ("---\nname: a\n---\n\nx\n{{y}}", "unknown variable 'y'", 6),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, fault: str, line: int | None) -> None:
    with pytest.raises(MalformedTemplate) as raised:
        read_template(text, "x")
    assert fault in str(raised.value)
    assert raised.value.line == line
