"""Prefixes of commands as an answer: which are offered, and what they allow afterwards."""

from __future__ import annotations

import pytest

from accord.policy.patterns.prefixes import prefix_pattern
from accord.policy.question import Question
from accord.policy.shell.parser import parse_line
from tests.policy.fixtures import policy, run


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("pytest -k x", "pytest *"),
        ("ruff check src", "ruff *"),
        ("npm run lint -- a", "npm run lint *"),
        ("npm test", "npm test *"),
        ("cargo test x", "cargo test *"),
        ("make test", "make test *"),
        ("python -m pytest tests", "python -m pytest *"),
        ("python3.12 tools/check.py a", "python3.12 tools/check.py *"),
        ("uv run pytest -q", "uv run pytest *"),
        ("pdm run pytest -q", "pdm run pytest *"),
        ("uv pip list x", "uv pip list *"),
        ("gh pr create -f", "gh pr create *"),
        ("pre-commit run -a", "pre-commit run *"),
        ("coverage report", "coverage report *"),
        ("coverage run -m pytest -q", "coverage run -m pytest *"),
        ("python -m pip install x", "python -m pip install *"),
        ("python manage.py test app", "python manage.py test *"),
        ("pypy3 tools/check.py a", "pypy3 tools/check.py *"),
        ("go run ./cmd/x -v", "go run ./cmd/x *"),
        ("./tool --flag", "./tool *"),
    ],
)
def test_a_prefix_names_one_task(line: str, pattern: str) -> None:
    assert prefix_pattern(parse_line(line).commands[0]) == pattern


@pytest.mark.parametrize(
    "line",
    [
        *("rm -rf build", "git push", "curl https://x", "find . -name x", "sed -i s/a/b/ f", "docker run x", "cd src"),
        *("python -c 'x'", "python", "node -e x", "perl -e x", "ssh host x", "npx x", "npm exec x", "uv run rm x"),
        *("gh api x", "uv tool run x", "conda run x", "direnv exec . x", "nix run x", "julia -e x", "java -jar x"),
        *("bwrap x", "/lib64/ld-linux-x86-64.so.2 x", "setarch x", "psql -c x", "mise x -- y", "split --filter=x f"),
        *(
            *("ipython x", "pypy3 -c x", "python -m timeit x", "python -m runpy x", "python -m pdb x.py"),
            *("coverage run -m timeit x", "python -m coverage run -m code", "python manage.py shell", "flask shell"),
            *("stack exec x", "composer exec x", "bun x y", "cmake -E env x", "start-stop-daemon x", "tcpdump -z x"),
            "pdm run rm x",
            "pipenv shell",
            "uv run python -c x",
            "make -f x",
            "cargo --config x",
            "X=1 pytest",
            "source x",
            "export A=b",
            "tee x",
        ),
    ],
)
def test_a_program_that_can_do_anything_has_no_prefix(line: str) -> None:
    assert prefix_pattern(parse_line(line).commands[0]) is None


async def test_the_answer_allows_other_arguments_of_the_same_command_only() -> None:
    offered: list[Question] = []

    async def ask(question: Question) -> str:
        offered.append(question)
        return "allow_prefix"

    judged = policy()
    assert (await judged.answer(run("pytest -k one"), ask=ask)).allowed
    choice = next(choice for choice in offered[0].choices if choice.id == "allow_prefix")
    assert choice.name == "Always allow `pytest …`"

    assert judged.decide(run("pytest")).effect == "allow"
    assert judged.decide(run("pytest tests/test_x.py -k two")).effect == "allow"
    for line in (
        *("env pytest", "sh -c pytest", 'bash -c "pytest -k x"', "eval pytest", "timeout 5 pytest", "sudo pytest"),
        *(
            "./pytest",
            "pytest; rm x",
            "pytest && rm x",
            "pytest | sh",
            "pytest > out",
            "pytest $(rm x)",
            "pytest `rm x`",
        ),
        *(
            "pytest $X",
            "pytest *",
            "X=1 pytest",
            "pytest\nrm x",
            "pytest & rm x",
            "xargs pytest",
            "pytest-x",
            "(pytest)",
        ),
    ):
        assert judged.decide(run(line)).effect == "ask", line


@pytest.mark.parametrize(
    "line", ["env pytest -q", "sh -c 'pytest -q'", "pytest -q > out", "pytest $X", "pytest -q; rm x"]
)
async def test_no_prefix_is_offered_for_a_line_that_does_more(line: str) -> None:
    offered: list[Question] = []

    async def ask(question: Question) -> bool:
        offered.append(question)
        return False

    await policy().answer(run(line), ask=ask)
    assert "allow_prefix" not in [choice.id for choice in offered[0].choices]
