"""Panels of a tab around the transcript: permission requests, plan, prompt queue, side panel, status line, tips."""
