"""Wrong programs, and the sentence that each of them gets.

Every `NAME.py` next to this file makes one mistake, and `NAME.txt` has what its author reads: the exception, warning or
log message, and the line of the program where the traceback ends. `ACCORD_SNAPSHOTS=write pytest tests/mistakes` writes
the texts again."""

from __future__ import annotations

import asyncio
import logging
import os
import runpy
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from accord.errors import AccordError

FOLDER = Path(__file__).parent
IS_WRITING = os.environ.get("ACCORD_SNAPSHOTS") == "write"
PROGRAMS = sorted(path for path in FOLDER.glob("*.py") if path.name != Path(__file__).name)


def find_line(error: BaseException, program: Path) -> str:
    """Return the last line of a traceback that belongs to the program."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(program)]
    return f"  {frames[-1].line}" if frames else ""


def describe(error: BaseException, program: Path) -> list[str]:
    """Format an error as the end of its traceback."""
    return [*filter(None, [find_line(error, program)]), f"{type(error).__name__}: {error}"]


class Reader(logging.Handler):
    """Collects the warnings and errors that Accord logs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture
def logged() -> Iterator[Reader]:
    reader = Reader()
    logger = logging.getLogger("accord")
    logger.addHandler(reader)
    yield reader
    logger.removeHandler(reader)


def run_program(program: Path, logged: Reader) -> list[str]:
    """Run a wrong program in this process, and return what its author reads."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        error: BaseException | None = None
        try:
            names = runpy.run_path(str(program), run_name="program")
            if "main" in names:
                asyncio.run(names["main"]())
        except Exception as raised:
            error = raised
    lines = [f"{type(each.message).__name__}: {each.message}" for each in caught]
    for record in logged.records:
        lines.append(f"log: {record.getMessage()}")
        if record.exc_info and record.exc_info[1] is not None:
            lines += describe(record.exc_info[1], program)
            frames = traceback.extract_tb(record.exc_info[1].__traceback__)
            assert not frames or frames[-1].filename == str(program), "the logged traceback ends in Accord"
    if error is not None:
        lines += describe(error, program)
    return lines


def test_there_are_at_least_forty() -> None:
    assert len(PROGRAMS) >= 40
    assert {path.stem for path in FOLDER.glob("*.txt")} <= {path.stem for path in PROGRAMS}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_mistake_gets_a_sentence(program: Path, logged: Reader) -> None:
    lines = run_program(program, logged)
    golden = program.with_suffix(".txt")
    text = "\n".join(lines) + "\n"
    if IS_WRITING:
        golden.write_text(text, encoding="utf-8")

    assert lines, "nobody noticed the mistake"
    assert not any(line.startswith(("TypeError:", "AttributeError:", "RuntimeWarning:")) for line in lines), text
    assert golden.exists() and text == golden.read_text(encoding="utf-8")


def test_a_programs_mistakes_are_errors_of_accord() -> None:
    """Callers who catch `AccordError` catch these, too."""
    with pytest.raises(AccordError):
        runpy.run_path(str(FOLDER / "prompt_is_not_async.py"))
