"""The table, the file of figures, and the page that is made from it."""

import re
from pathlib import Path

from bench.figures import Figure
from bench.record import FIGURES
from bench.rows import BURST, FIRST_CHECKPOINT, PACED, SECTIONS, STARTUP
from tests.doc import documents
from tests.support.launch import VERSIONS

from bench import page, record

ROWS = [row for section in SECTIONS.values() for row in section]
MACHINE = r"\d+ cores?, \d+ GiB, (?:Intel|AMD|ARM|Apple|aarch64)[\w @.+-]*"
A_FIGURE = re.compile(r"\d[\d.,]*(?:x| times| ms| s| MiB)\b")


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_row_is_a_figure_and_a_column_a_version() -> None:
    figures = [
        *(Figure(BURST, "0.10.4", 0.012, 0.0097), Figure(STARTUP, "0.10.4", 0.0102, 0.01)),
        *(Figure(BURST, "0.12.4", 0.03, 0.01), Figure(STARTUP, "0.12.4", 0.02, 0.01)),
    ]
    head, rule, burst, startup = page.table(figures).splitlines()
    assert cells(head) == ["what", "goal", "Neovim 0.10.4", "Neovim 0.12.4"]
    assert set(rule) <= set("|- ")
    assert cells(burst) == [
        *(BURST.name, "≤ 2x", "✓ 1.24x (12.0 ms / 9.70 ms)", "✗ 3x (30.0 ms / 10.0 ms)")
    ]
    assert cells(startup)[1:3] == ["≤ 0.50 ms more", "✓ 1.02x (10.2 ms / 10.0 ms)"]
    assert len({*map(len, (head, rule, burst, startup))}) == 1


def test_what_is_not_measured_again_stays(tmp_path: Path) -> None:
    path = tmp_path / "figures.jsonl"
    record.add(path, [Figure(FIRST_CHECKPOINT, None, 6.0, 5.0), Figure(PACED, "0.12.4", 0.7, 0.2)])
    old = path.read_text().replace('"date": "', '"date": "earlier than ').splitlines()
    path.write_text('{"row": "of another year"}\n' + "\n".join(old) + "\n")
    record.add(path, [Figure(PACED, "0.12.4", 0.600049, 0.2)])
    again, checkpoint = record.read(path)
    assert again.figure == Figure(PACED, "0.12.4", 0.6, 0.2)
    assert (checkpoint.figure.ours, checkpoint.conditions.date[:7]) == (6.0, "earlier")
    assert path.read_text().splitlines()[1] == old[1]


def test_the_page_is_made_from_the_figures() -> None:
    made = page.text(record.read(FIGURES))
    assert page.PAGE.read_text(encoding="utf-8") == made, "python -m bench.page writes it"


def test_the_page_has_every_row_with_its_goal() -> None:
    measured = {(it.figure.row, it.figure.neovim) for it in record.read(FIGURES)}
    *sections, last = SECTIONS.values()
    rows = {(row, version) for section in sections for row in section for version in VERSIONS}
    assert measured == rows | {(row, None) for row in last}
    named = re.findall(r"(?m)^\| \*\*(.+)\.\*\* .+ \| (≤ .+?) \|", page.PAGE.read_text())
    assert [name for name, _ in named] == [row.name for row in ROWS]


def test_the_page_names_a_kind_of_machine_and_not_which_one() -> None:
    for recorded in record.read(FIGURES):
        it = recorded.conditions
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", it.date)
        assert re.fullmatch(r"[\d.]+", it.plugin + it.python)
        assert re.fullmatch(MACHINE, it.machine)
    assert re.findall(r"(?<![\w.`])/\w+/", page.PAGE.read_text()) == []


def test_what_readme_says_of_speed_is_on_the_page() -> None:
    sections = re.split(r"(?m)^#+ ", documents.README.read_text(encoding="utf-8"))
    told = "".join(it for it in sections if "doc/performance.md" in it)
    figures = {it.replace(" times", "x") for it in A_FIGURE.findall(told)}
    assert figures - set(A_FIGURE.findall(page.PAGE.read_text(encoding="utf-8"))) == set()
