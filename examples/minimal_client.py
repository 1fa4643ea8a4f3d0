"""The smallest client: it starts an agent, sends one prompt and prints the answer.

python minimal_client.py [COMMAND …]    (without one: the echo agent beside this file)"""

import asyncio
import sys
from pathlib import Path

import accord

AGENT = sys.argv[1:] or [sys.executable, str(Path(__file__).with_name("echo_agent.py"))]


async def main() -> None:
    async with accord.connect(AGENT) as agent:
        session = await agent.new_session()
        turn = await session.prompt("Hello, agent!")
        print(turn.text)


asyncio.run(main())
