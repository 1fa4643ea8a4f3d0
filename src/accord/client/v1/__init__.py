"""Protocol version 1 for clients: a prompt's response ends its turn; agents use the client's files and terminals."""
