import accord


class Helper(accord.Agent):
    def prompt(self, turn):
        turn.say("Hello.")
