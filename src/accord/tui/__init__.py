"""The terminal client.

`AccordApp` (app.py) holds `Tabs`; a `Tab` (tab/) shows the session of one `SessionController` (session/). Sessions of
one agent share an `AgentProcess` (agent/): the process, the connection and its log. `Questions` answers their requests.
Everything from the rest of the program (starting a process, configuration, policy) comes through the `Host` protocol
(host.py), so that this package doesn't depend on the command line, and tests can bring their own agent.

Nothing here copies the transcript: a controller notes which items changed, and once per frame the transcript view draws
those that are visible. A frame costs the same however fast an agent writes.

    agent/        the agent process, its log, its workspace and session locks
    session/      one open session: opening, prompt queue, turns, checkpoints, activity. No widgets.
    tab/          the widgets of one session, and what the user does there
    transcript/   the widget that shows the transcript. It knows nothing about sessions, prompts or screens.
    prompt/       the editor, its completions, history and drafts. It posts messages and knows no session.
    panels/       permission requests, the side panel, the status line, the queue
    screens/      modal screens. Each returns what the user chose; the tab or the app acts on it.
    terminal/     the terminal around us: restoring it, keyboard, notifications, painting
"""
