"""Methods that the protocol does not know, both ways: the client asks the agent, the agent asks the client.

Such names begin with an underscore and a domain of yours. Each side says what it has (`capability_meta`), so that the
other need not guess; whoever asks for more gets `MethodNotFound`, and nothing breaks."""

import asyncio
from typing import Any

import accord
from accord import Agent, Turn


class Librarian(Agent):
    """Counts words when asked, and wants to know from the client which book is open."""

    capability_meta = {"example.org": {"count": True}}

    async def extension_request(self, method: str, params: Any) -> Any:
        if method == "_example.org/count":
            return {"words": len(params["text"].split())}
        return await super().extension_request(method, params)  # which refuses it

    async def prompt(self, turn: Turn) -> None:
        await turn.notify("_example.org/looking", {"for": "the open book"})
        book = await turn.request("_example.org/open_book")
        await turn.say(f"You are reading {book['title']}, page {book['page']}.")


async def open_book(params: Any) -> Any:
    return {"title": "Middlemarch", "page": 81}


def looking(params: Any) -> None:
    print(f"the agent looks for {params['for']}")


async def main() -> None:
    ours = {"_example.org/open_book": open_book, "_example.org/looking": looking}
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
