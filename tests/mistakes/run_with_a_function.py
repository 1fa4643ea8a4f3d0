import accord


async def prompt(turn):
    await turn.say("Hello.")


accord.run(prompt)
