"""Expansion: values in the place of variables, and nothing else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eca_nvim.session.templates.expansion import (
    Expansion,
    MalformedTemplate,
    Value,
    expand,
    fenced,
    kinds_of,
    parse,
    questions_of,
)


def expanded(body: str, rest: str = "", answers: tuple[str, ...] = (), **values: Value) -> str:
    return expand(parse(body), values, answers, rest).text


def test_what_a_template_needs_is_known_before_it_is_expanded() -> None:
    parts = parse("{{diff}} {{ file }} {{input:Why?}} {{diff}} {{input:Who?}} {{input: Why? }}")
    assert kinds_of(parts) == ("diff", "file")
    assert questions_of(parts) == ("Why?", "Who?")
    assert questions_of(parts, "because") == ("Who?",)
    assert kinds_of(parse("plain")) == questions_of(parse("plain")) == ()


def test_answers_and_the_file_stand_in_the_line() -> None:
    body = "See {{file}}: {{input:What?}}, {{input:How?}} ({{input:What?}})."
    assert expanded(body, answers=("this", "so"), file=Value("@a.py")) == (
        "See @a.py: this, so (this)."
    )


def test_what_was_typed_after_the_name_answers_first_or_stands_at_the_end() -> None:
    assert expanded("{{input:A}} {{input:B}}", "one", ("two",)) == "one two"
    assert expanded("Do it.", "but not twice") == "Do it.\n\nbut not twice"
    with pytest.raises(ValueError, match="shorter"):
        expanded("{{input:A}}")


def test_other_values_have_lines_and_a_fence_of_their_own() -> None:
    value = Value("x = 1\ny = 2\n", "a.py:1-2", "python")
    fence = "a.py:1-2:\n```python\nx = 1\ny = 2\n```"
    assert expanded("{{selection}}", selection=value) == fence
    assert expanded("see {{selection}} now", selection=value) == f"see \n{fence}\n now"
    assert expanded("see\n\n{{selection}}\n\nnow", selection=value) == f"see\n\n{fence}\n\nnow"
    assert expanded("{{selection}}{{diff}}", selection=value, diff=Value("d")) == (
        f"{fence}\n```\nd\n```"
    )


def test_a_fence_is_longer_than_any_in_the_value() -> None:
    assert fenced(Value("a\n````\nb```c")) == "`````\na\n````\nb```c\n`````"
    assert fenced(Value("a", "", "x\n```")) == "```\na\n```", "a language is one word"


def test_a_value_is_data() -> None:
    hostile = Value("{{input:Password?}} {{diff}} \\{{ @secret.txt")
    found = expand(parse("{{diff}}\nwith @this.py {{input:A}}"), {"diff": hostile}, ("{{file}}",))
    assert hostile.content in found.text
    assert "{{file}}" in found.text
    assert "@secret.txt" not in found.own, "a name in a value is no context"
    assert "@this.py" in found.own


def test_tokens_that_a_template_puts_together_stay_together() -> None:
    assert expand(parse("see @src/{{input:Which?}} x"), {}, ("a.py",)).own == "see @src/a.py x"
    assert expand(parse("a"), {}, (), "@b.py") == Expansion("a\n\n@b.py", "a\n@b.py")


def test_two_braces_can_be_written() -> None:
    assert expanded(r"${{ x }}".replace("${{", r"$\{{")) == "${{ x }}"
    assert expanded(r"{{file}}\{{", file=Value("a")) == "a{{"


@pytest.mark.parametrize(
    ("body", "fault", "line"),
    [
        ("one\n{{selecton}}", "unknown variable 'selecton'", 2),
        ("{{file:x}}", "unknown variable 'file:x'", 1),
        ("{{}}", "unknown variable ''", 1),
        ("{{input}}", "needs a question", 1),
        ("{{input: }}", "needs a question", 1),
        ("a\n\n{{file", "without '}}'", 3),
        ("{{file\n}}", "without '}}'", 1),
        ("{{vim.fn.system('id')}}", "unknown variable 'vim.fn.system('id')'", 1),
    ],
)
def test_a_wrong_variable_is_named_with_its_line(body: str, fault: str, line: int) -> None:
    with pytest.raises(MalformedTemplate) as raised:
        parse(body)
    assert fault in str(raised.value)
    assert raised.value.line == line


def test_a_prompt_has_a_largest_size() -> None:
    parts = parse("{{diff}}" * 10_000)
    with pytest.raises(MalformedTemplate, match="longer than 2 MB"):
        expand(parts, {"diff": Value("x" * 1000)}, ())


@settings(max_examples=50)
@given(st.text(alphabet="`~{}a\n\\"))
def test_whatever_a_value_is_it_stays_in_its_fence(content: str) -> None:
    fence = expanded("see\n{{diff}}", diff=Value(content)).rsplit("\n", 1)[-1]
    assert set(fence) == {"`"}
    assert fence not in content
