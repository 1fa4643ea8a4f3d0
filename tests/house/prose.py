"""Count what the style guide forbids in prose, names and structure, per package.

    python tests/house/prose.py [PATH…]     list the findings, in all files or in these
    python tests/house/prose.py --update    lower the allowances in allowances.json to today's counts

The words and names come from docs/glossary.md. An allowance only goes down: `--update` refuses to raise the total of
a check, but lets findings move between packages along with their files.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
ALLOWANCES = Path(__file__).with_name("allowances.json")
GENERATED = {"docs/requirements.md"}

# Each phrase with a replacement. Phrases match whole words, in lower case, outside code.
PHRASES = {
    r"told(?! (?:to|not to|apart|you|them|us)\b)": "reported, shown, sent",
    r"anew|afresh": "again, from scratch",
    r"mend(?:s|ed|ing)?": "fix",
    r"who(?:m|ever|soever)|those who": "the caller, the user, …",
    r"nobody (?:knows|a?waits|listens|asks|asked|here)|(?:that|which|what) nobody": "unknown, unused, no caller",
    r"(?<!there )(?:is|are|was|were) no (?!longer|more|less|better|worse|such|one\b|need|way|reason)\w+": "is not a",
    r"(?:goes|go|went|gone) on(?! (?:the|a|an|top|your)\b)": "continues, resumes",
    r"(?:know[ns]?|hears?|heard|tells?|says?|said|speaks?|spoken?) of(?! course)": "about, mentions, covers",
    r"says? so(?! (?:far|many|much)\b)|said so": "reports it",
    r"(?:is|are|was|were) (?:still |now )?meant(?! (?:to|for|as|by)\b)": "refers to, is the default",
    r"(?!one|some|any|all|none|that)\w+ of (?:its|their) own": "its own",
    r"(?!one|some|any|all|else|that|those)\w+ of (?:ours|theirs)": "our, its",
    r"a person": "the user",
    r"(?<!in )so many(?! (?:as|that)\b)|(?:for|after|within) so long": "`n` items, `seconds`",
    r"(?<!other )(?<!few )in words": "as text",
    r"(?:where|whether|when|until|because|if|once|while|before|how|than) what": "name the thing",
    r"(?:what|which|that) (?:is|are|was|were) to be": "should be, must be",
    r"stands? (?:at|before|beside|above|below|there|twice|on|where|after|behind|under|here)": "is, appears",
    r"tak(?:e|es|en|ing) (?:(?:it|this|that|the \w+) )?back": "undo, withdraw",
    r"(?:writes?|wrote|written|writing) (?:\w+ )?down": "record, save",
    r"(?:is|are) at work|(?:its|their|the) last words": "is running, last output",
    r"(?:its|their|the) like|all the same(?=[.,;:)])|lets? be|made fit|comes? about": "say it plainly",
    r"shall|lest|whence|hitherto|whereupon|therein|thereof|forthwith|naught|in vain|likewise": "present-day English",
    r"heed(?:s|ed)?": "honor, follow",
    r"(?:to|at) (?:its|their) end": "finish, at the end",
}
OPENING = re.compile(r"(?:what|who|whose|whom|whoever|whatever|how|which|where|why|whether)\b(?![^.]*\?)", re.I)
OPENING_OF_VALUE = re.compile(r"(?:what|who|whom|whose|whoever|whatever)\b(?![^.]*\?)", re.I)
PARTICIPLE = re.compile(
    r"(?!(?:elapsed|expected|sorted|reversed|embed|exceed|feed|need|proceed|seed|shed|speed|succeed)$)[a-z]+ed$|"
    r"(?:re|un)?(?:begun|bound|broken|brought|built|caught|chosen|done|drawn|fed|found|given|gone|heard|held|kept|known|"
    r"left|lent|lost|made|meant|met|paid|said|seen|sent|shown|spent|spoken|stuck|taken|thrown|told|understood|written)$"
)
NOUNS_IN_ING = re.compile(
    r"anything|backing|binding|bring|building|caching|decoding|encoding|everything|formatting|framing|greeting"
    r"|hashing|heading|indexing|king|locking|logging|mapping|matching|meaning|missing|nothing|packaging|padding"
    r"|parsing|pending|ping|polling|processing|profiling|quoting|rating|recording|rendering|ring|routing"
    r"|scheduling|setting|something|spacing|spring|string|testing|thing|timing|tracing|tuning|typing|warning"
    r"|wing"
)
RIDDLES = re.compile(
    r"above|aside|at_once|begin|beyond|desk|earlier|early|elsewhere|facts|gist|hand|haste|harmless|late|lasting"
    r"|letters|linear|long|mischief|moment|notions|older|ours|outside|passages|patience|peek|plain|theirs"
    r"|trouble|untold"
)
# A function that serves as a value or a block may be a participle or a gerund.
VALUE_DECORATORS = re.compile(r"property|fixture|contextmanager|setter|hookimpl")
CODE = re.compile(r"``[^`]*``|`[^`]*`|\{[^{}]*\}|(?<=\])\([^)]*\)|https?://\S+")
FORBIDDEN = re.compile("|".join(rf"(?P<p{number}>\b(?:{each})\b)" for number, each in enumerate(PHRASES)))
SENTENCE = re.compile(r"[a-z]{2,}\W+[a-z]{2,}\W+[a-z]{2,}", re.I)
# Attributes of the standard library's objects that not every platform or instance has.
FOREIGN_ATTRIBUTES = {"strerror", "sqlite_errorcode", "reconfigure", "buffer", "reason", "close", "st_file_attributes"}
MAX_BASES = 2
CHECKS = ("words", "openings", "functions", "modules", "bases", "probing", "ignores")


class Finding(NamedTuple):
    """A violation: the check that found it, its place, and what to write instead."""

    check: str
    path: str
    line: int
    text: str

    @property
    def area(self) -> str:
        """Its package: `tui`, `tests/tui`, `docs`; `.` for the files at the root."""
        parts = Path(self.path).parts
        parts = parts[2:] if parts[:2] == ("src", "accord") else parts
        length = 2 if parts[0] == "tests" else 1
        return "/".join(parts[: min(length, len(parts) - 1)]) or "."


# -- Prose -------------------------------------------------------------------------------------------------------------


def find_in_prose(path: str, line: int, text: str) -> Iterator[Finding]:
    text = CODE.sub(lambda code: "_" * len(code[0]), text).lower()
    for match in FORBIDDEN.finditer(text):
        hint = list(PHRASES.values())[int(str(match.lastgroup)[1:])]
        yield Finding("words", path, line + text.count("\n", 0, match.start()), f"“{match[0]}”: say {hint}")


def find_in_markdown(path: str, text: str) -> Iterator[Finding]:
    text = re.sub(r"^(```|~~~).*?^\1$", lambda fence: "\n" * fence[0].count("\n"), text, flags=re.M | re.S)
    yield from find_in_prose(path, 1, text)


def find_in_tokens(path: str, source: str) -> Iterator[Finding]:
    """Check comments and, outside the tests, string literals (docstrings included) that read like sentences."""
    is_test = path.startswith("tests/")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("# type:"):
            yield from find_in_prose(path, token.start[0], token.string)
        elif token.type == tokenize.STRING and SENTENCE.search(token.string):
            is_docstring = token.string.startswith(('"""', 'r"""'))
            yield from find_in_prose(path, token.start[0], token.string) if is_docstring or not is_test else ()


# -- Names and structure -----------------------------------------------------------------------------------------------


def find_in_tree(path: str, tree: ast.Module) -> Iterator[Finding]:
    yield from find_in_module_name(path)
    nodes = list(ast.walk(tree))
    foreign = {name for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for name in list_foreign(node)}
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from find_in_function_name(path, node)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node) or ""
            if (OPENING_OF_VALUE if is_value(node) else OPENING).match(docstring):
                line = getattr(node, "lineno", 1)
                yield Finding("openings", path, line, f"“{docstring[:40]}…”: start with a noun or an imperative verb")
        if path.startswith("src/") and isinstance(node, ast.Call) and probes(node, foreign):
            yield Finding("probing", path, node.lineno, f"{ast.unparse(node)}: declare the attribute in a type")


def find_in_module_name(path: str) -> Iterator[Finding]:
    stem = Path(path).stem.removeprefix("test_")
    is_gerund = stem.endswith("ing") and not NOUNS_IN_ING.fullmatch(stem)
    if RIDDLES.fullmatch(stem) or PARTICIPLE.match(stem) or (is_gerund and not Path(path).stem.startswith("test_")):
        yield Finding("modules", path, 1, f"{Path(path).name}: name the module after its main noun")


def find_in_function_name(path: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Finding]:
    """Check a function's name. A test's name is prose; a predicate may be a participle: `closed() -> bool`."""
    if node.name.startswith("test_"):
        yield from find_in_prose(path, node.lineno, node.name.removeprefix("test_").replace("_", " "))
        return
    name = node.name.lstrip("_")
    is_predicate = isinstance(node.returns, ast.Name) and node.returns.id == "bool"
    is_gerund = name.endswith("ing") and "_" not in name and not NOUNS_IN_ING.fullmatch(name)
    if (PARTICIPLE.match(name) or is_gerund) and not is_predicate and not is_value(node):
        yield Finding("functions", path, node.lineno, f"{name}(): name the action, verb first")


def is_value(node: ast.AST) -> bool:
    """Return whether a function is used as a value or a block, and so described by a noun."""
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []
    return any(VALUE_DECORATORS.search(ast.unparse(decorator)) for decorator in decorators)


def list_foreign(node: ast.Import | ast.ImportFrom) -> list[str]:
    """List the names that an import takes from other packages than ours."""
    is_ours = isinstance(node, ast.ImportFrom) and (node.module or "").startswith("accord")
    return [alias.asname or alias.name for alias in node.names if not is_ours]


def probes(call: ast.Call, foreign: set[str]) -> bool:
    """Return whether a call asks one of our objects for an attribute it may lack. Imported modules are not ours."""
    if not isinstance(call.func, ast.Name) or call.func.id not in ("getattr", "hasattr") or len(call.args) < 2:
        return False
    if call.func.id == "getattr" and len(call.args) == 2:
        return False  # a computed name, which must exist
    target, name = call.args[:2]
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return False
    root = target
    while isinstance(root, ast.Attribute):
        root = root.value
    is_foreign = isinstance(root, ast.Name) and root.id in foreign
    return not is_foreign and not name.value.startswith("_") and name.value not in FOREIGN_ATTRIBUTES


def find_in_classes(trees: dict[str, ast.Module]) -> Iterator[Finding]:
    """Check how many classes from the same package a class inherits from, directly or not."""
    bases: dict[tuple[str, str], list[tuple[str, str]]] = {}
    places: dict[tuple[str, str], tuple[str, int]] = {}
    for path, tree in trees.items():
        package = Path(path).parts[2]
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                names = [base.id for base in node.bases if isinstance(base, ast.Name)]
                bases[package, node.name] = [(package, name) for name in names]
                places[package, node.name] = (path, node.lineno)
    for key, (path, line) in places.items():
        found: set[tuple[str, str]] = set()
        waiting = list(bases[key])
        while waiting:
            base = waiting.pop()
            if base in bases and base not in found and base != key:
                found.add(base)
                waiting += bases[base]
        if len(found) > MAX_BASES and not is_exception(key, bases):
            names = ", ".join(sorted(name for _, name in found))
            yield Finding("bases", path, line, f"{key[1]} inherits from {names}: hold collaborators instead")


def is_exception(key: tuple[str, str], bases: dict[tuple[str, str], list[tuple[str, str]]]) -> bool:
    return any(name.endswith(("Error", "Exception")) for _, name in bases.get(key, ()))


# -- Files and the table -----------------------------------------------------------------------------------------------


def list_files() -> list[Path]:
    roots = ("src/accord", "tests", "docs", "examples", "bench")
    found = [path for root in roots for kind in ("*.py", "*.md") for path in (ROOT / root).rglob(kind)]
    return sorted(path for path in [*found, *ROOT.glob("*.md")] if "node_modules" not in path.parts)


@cache
def find_all() -> tuple[Finding, ...]:
    findings: list[Finding] = []
    trees: dict[str, ast.Module] = {}
    for file in list_files():
        path, source = file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")
        if file.suffix == ".md":
            findings += find_in_markdown(path, source) if path not in GENERATED else []
            continue
        tree = ast.parse(source)
        findings += find_in_tokens(path, source)
        findings += find_in_tree(path, tree)
        if path.startswith("src/"):
            trees[path] = tree
            lines = enumerate(source.splitlines(), 1)
            findings += [Finding("ignores", path, line, text.strip()) for line, text in lines if "type: ignore" in text]
    return tuple(findings + list(find_in_classes(trees)))


def count(findings: Iterable[Finding]) -> dict[str, dict[str, int]]:
    """Count findings by check and area."""
    cells = Counter((finding.check, finding.area) for finding in findings)
    return {check: {area: cells[name, area] for name, area in sorted(cells) if name == check} for check in CHECKS}


def load_allowances() -> dict[str, dict[str, int]]:
    table: dict[str, dict[str, int]] = json.loads(ALLOWANCES.read_text(encoding="utf-8"))
    return table


def update() -> int:
    today, allowed = count(find_all()), load_allowances() if ALLOWANCES.exists() else {}
    for check in CHECKS:
        before, now = sum(allowed.get(check, {}).values()), sum(today[check].values())
        if check in allowed and now > before:
            print(f"{check}: {now} findings, and {before} are allowed. Fix the new ones.", file=sys.stderr)
            return 1
    ALLOWANCES.write_text(json.dumps(today, indent=1) + "\n", encoding="utf-8")
    print(", ".join(f"{check} {sum(areas.values())}" for check, areas in today.items()))
    return 0


def main(words: list[str]) -> int:
    if words == ["--update"]:
        return update()
    prefixes = tuple(Path(word).resolve().relative_to(ROOT).as_posix() for word in words)
    findings = [each for each in find_all() if not prefixes or each.path.startswith(prefixes) or prefixes == (".",)]
    for finding in sorted(findings, key=lambda each: (each.path, each.line)):
        print(f"{finding.path}:{finding.line}: {finding.check}: {finding.text}")
    print(f"{len(findings)} findings")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
