"""The messages that every contender sends. `workload.mjs` is the same for the TypeScript contenders."""

from __future__ import annotations

READ = "a line of the file that was read\n" * 60
OLD = "this line was there before the edit\n" * 111
NEW = "this line is here after the edit\n\n" * 118
PLAN = ["Look around", "Find the cause", "Write the change", "Run the tests", "Tell the user"]
TURN_MESSAGES = 931  # what an agent sends in one mixed turn, the answer to the prompt aside
IN_FLIGHT = 256
WARM_UP = 3_000  # messages before the clock starts
UPDATES_PER_SESSION = 20
BLOB = 20_000_000
LENGTHS = (100, 1_000, 100_000)


def session(number: int) -> str:
    """The id of the n-th session, as long as a UUID is."""
    return f"00000000-0000-4000-8000-{number:012d}"


def token(number: int) -> str:
    """The text of the n-th chunk of a stream."""
    return f"token {number} of the stream "


def letters(count: int) -> int:
    """Return the number of letters in a stream of `count` chunks."""
    return sum(len(token(number)) for number in range(count))


def blob(size: int) -> str:
    """One long text."""
    return "0123456789abcdef" * (size // 16)


def _build_mixed() -> list[tuple[str, str]]:
    """Build one turn as users see it. Ids and paths follow from the number in the second place."""
    steps = [("plan", "")]
    for part in range(50):
        steps += [("thought", f"thinking about part {part}, step {step} ") for step in range(4)]
        steps += [("chunk", token(part * 10 + step)) for step in range(10)]
        steps.append(("tool", str(part)))
        if part % 5 == 0:
            steps.append(("permission", str(part)))
        if part % 5 in (1, 3):
            steps.append(("read", str(part)))
    return steps


MIXED = _build_mixed()


def path(number: str) -> str:
    return f"/project/src/file_{number}.py"
