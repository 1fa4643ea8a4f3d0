"""What stands around the conversation: questions, the side panel, the status line, the queue."""
