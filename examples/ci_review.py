"""Review a change in CI: an agent reads it, and the job fails if the agent finds a problem.

    python ci_review.py [BASE]        (default: origin/main; run it in a git checkout)

`AGENT` is the command line of any agent, by default the coding agent of Accord. The exit status is 0 if there are no
problems, 1 if there are, and 2 if there is no review. On GitHub, problems are shown at their lines."""

import os
import re
import subprocess
import sys

import accord
from accord.sync import ask

AGENT = os.environ.get("AGENT", "accord agent")
PROMPT = """Review the change below. Look for bugs, not for style. Read other files of the project if you need them.
Report one problem per line, in this form, and nothing else: PATH:LINE: what is wrong
If there is none, answer with: No problems.

{change}"""
PROBLEM = re.compile(r"^(?P<path>[^:\s]+):(?P<line>\d+): (?P<text>.+)$", re.MULTILINE)


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def describe(path: str, line: str, text: str) -> str:
    """Format a problem; on GitHub as an annotation. The text is a model's: escaped, it can't be another command."""
    if "GITHUB_ACTIONS" not in os.environ:
        return f"{path}:{line}: {text}"
    escaped = text.replace("%", "%25").replace("\r", "%0D")
    return f"::error file={path},line={line}::{escaped}"


def main(base: str) -> int:
    change = git("diff", f"{base}...HEAD")
    if not change:
        print("Nothing changed.")
        return 0
    try:
        turn = ask(AGENT, PROMPT.format(change=change), permissions=accord.reject_all)  # it may read, not change
    except accord.AccordError as error:
        print(f"No review: {error}", file=sys.stderr)
        return 2
    changed = git("diff", "--name-only", f"{base}...HEAD").splitlines()
    problems = [found for found in PROBLEM.finditer(turn.text) if found["path"] in changed]
    for found in problems:
        print(describe(**found.groupdict()))
    if not problems and turn.text.strip() != "No problems.":
        print(f"No review: the agent answered {turn.text!r}", file=sys.stderr)
        return 2
    print(f"Changed files: {len(changed)}, problems: {len(problems)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or ["origin/main"])))
