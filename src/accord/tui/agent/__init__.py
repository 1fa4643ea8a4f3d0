"""The agent as the client sees it: its process, its log, its workspace, and which of its sessions are open here."""
