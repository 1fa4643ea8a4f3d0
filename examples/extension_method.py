"""Extension methods in both directions: the client calls the agent, and the agent calls the client.

Their names start with an underscore and your domain. Each side announces its extensions (`capability_meta`). A call of
an unknown method raises `MethodNotFound`, and the connection continues."""

import asyncio
from typing import Any

import accord
from accord import Agent, Turn


class Librarian(Agent):
    """Counts words on request, and asks the client which book is open."""

    capability_meta = {"example.org": {"count": True}}

    async def extension_request(self, method: str, params: Any) -> Any:
        if method == "_example.org/count":
            return {"words": len(params["text"].split())}
        return await super().extension_request(method, params)  # raises MethodNotFound

    async def prompt(self, turn: Turn) -> None:
        await turn.notify("_example.org/looking", {"for": "the open book"})
        book = await turn.request("_example.org/open_book")
        await turn.say(f"You are reading {book['title']}, page {book['page']}.")


async def open_book(params: Any) -> Any:
    return {"title": "Middlemarch", "page": 81}


def show_search(params: Any) -> None:
    print(f"the agent is looking for {params['for']}")


async def main() -> None:
    ours = {"_example.org/open_book": open_book, "_example.org/looking": show_search}
    async with accord.connect(Librarian(), extensions=ours) as agent:
        theirs = (agent.offers.meta or {}).get("example.org", {})
        if theirs.get("count"):
            counted = await agent.request("_example.org/count", {"text": "who that cares much"})
            print(f"the agent counted {counted['words']} words")
        session = await agent.new_session()
        print((await session.prompt("Where was I?")).text)
        try:
            await agent.request("_example.org/burn")
        except accord.MethodNotFound as error:
            print(f"refused: {error}")


asyncio.run(main())
