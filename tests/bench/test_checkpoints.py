"""The benchmark of checkpoints, with few files."""

from pathlib import Path

from bench.checkpoints import measure

from bench import rows


def test_few_files_are_measured(tmp_path: Path) -> None:
    figures = measure(tmp_path, files=20, size=100, runs=1)
    assert [it.row for it in figures] == [
        *(rows.FIRST_CHECKPOINT, rows.NEXT_CHECKPOINT, rows.CHECKPOINT_MEMORY)
    ]
    assert all(it.value >= 0 for it in figures)
