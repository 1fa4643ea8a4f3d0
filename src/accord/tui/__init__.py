"""The terminal client: a picture of transcripts, and a place to type.

How it is built. An `App` (app.py) holds tabs; a tab is a `Pane` (pane.py) that shows one `Talk` (talk.py): a session,
the prompts that wait for it, and what changed since it was last drawn. Sessions of one agent share a `Link` (link.py):
the process, the connection, its log, and the questions it asks. What the rest of the program must do for us (start a
process, read the configuration, make the policy) comes in through `Outside` (outside.py), so that this room knows no
command line and tests can bring an agent of their own.

The application is built in layers, each a class on the one before: desk.py answers what agents ask, surface.py knows
the looks and the terminal around us, keeping.py what is kept for the next time, shell.py has the tabs and the end,
choosing.py the start page, sessions.py and watching.py what is done with sessions and with what goes on, and app.py
the rest of the commands of keys.py.

Nothing here keeps a second copy of what was said: a talk notes *which* items of the transcript changed, and once per
frame the conversation draws those of them that can be seen. However fast an agent talks, a frame costs the same.

The seams, for those who work on one part:

    conversation/   the timeline as lines: `view.py` scrolls and paints, a `Block` draws one item of the timeline.
                    It knows transcripts and colours, and nothing of sessions, prompts or screens.
    prompt/         the editor, its completions and history. It posts `Submitted` and knows no session.
    panels/         what stands around both: questions of the policy, the side panel, the status line, the queue.
    screens/        whole-screen things: agents, sessions, logs, forms, logins, settings, keys. Each takes what it
                    shows and returns what was chosen; the pane or the app acts on it.
"""
