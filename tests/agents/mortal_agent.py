"""An agent that saves its sessions and exits on the prompt `die`. With `--login` it is its login program."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from accord import Agent, AgentSession, AuthMethod, AuthRequired, Turn, run

HOME = Path(os.environ["MORTAL_HOME"])
LOADS = os.environ.get("MORTAL_LOADS") == "1"
FORGETS = os.environ.get("MORTAL_FORGETS") == "1"


class Mortal(Agent):
    auth_methods = (AuthMethod(id="terminal", name="Log in", kind="terminal", args=["--login"], env={"HOW": "well"}),)

    async def new_session(self, session: AgentSession) -> None:
        if os.environ.get("MORTAL_LOGIN") and not (HOME / "key").exists():
            raise AuthRequired("log in first")
        (HOME / session.id).write_text("")

    async def resume_session(self, session: AgentSession) -> None:
        self._check(session)

    async def prompt(self, turn: Turn) -> None:
        if os.environ.get("MORTAL_ASKS_LATE") and not (HOME / "key").exists():
            raise AuthRequired("log in first")
        (HOME / turn.session.id).open("a").write(turn.text + "\n")
        if turn.text == "die":
            print("it was my time", file=sys.stderr, flush=True)
            os._exit(7)
        count = len((HOME / turn.session.id).read_text().splitlines())
        await turn.say(f"prompt {count} in process {os.getpid()}")

    def _check(self, session: AgentSession) -> None:
        if not (HOME / session.id).exists():
            from accord import NotFound

            raise NotFound("no such session")


class Loading(Mortal):
    """An agent that can load sessions but not resume them."""

    resume_session = Agent.resume_session

    async def load_session(self, session: AgentSession) -> None:
        self._check(session)
        for line in (HOME / session.id).read_text().splitlines():
            await session.user_said(line)
            await session.say("old words")


class Forgetting(Mortal):
    """An agent that forgets its sessions when it exits."""

    resume_session = Agent.resume_session


if __name__ == "__main__":
    if "--login" in sys.argv:
        if os.environ.get("MORTAL_LOGIN_WAITS"):
            input("Your name: ")
        (HOME / "key").write_text(os.environ["HOW"])
        sys.exit(int(os.environ.get("MORTAL_LOGIN_STATUS", "0")))
    if os.environ.get("MORTAL_STILLBORN") and (HOME / "born").exists():
        sys.exit(9)
    (HOME / "born").write_text("")
    run(Loading() if LOADS else Forgetting() if FORGETS else Mortal())
