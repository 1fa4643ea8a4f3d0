from accord import v1


class Helper(v1.AgentHandlers):
    def session_prompt(self, session_id: str, prompt: list[v1.ContentBlock]): ...
