"""Emacs with agent-shell: an agent is a configuration that makes a client."""

from __future__ import annotations

from accord.config.editors.editor import Editor, Launch
from accord.config.editors.quoting import elisp, elisp_list


def _text(launch: Launch) -> str:
    prompt = f"{launch.name}> "
    # The name is quoted for the regular expression by Emacs itself.
    return f"""\
(with-eval-after-load 'agent-shell
  (add-to-list
   'agent-shell-agent-configs
   (agent-shell-make-agent-config
    :identifier '{launch.id}
    :mode-line-name {elisp(launch.name)}
    :buffer-name {elisp(launch.name)}
    :shell-prompt {elisp(prompt)}
    :shell-prompt-regexp (regexp-quote {elisp(prompt)})
    :client-maker (lambda (buffer)
                    (acp-make-client
                     :command {elisp(launch.command)}
                     :command-params {elisp_list(launch.args)}
                     :context-buffer buffer)))))
"""


AGENT_SHELL = Editor(
    name="agent-shell",
    title="Emacs, agent-shell",
    where="your init file",
    programs=(),
    traces=lambda machine: [
        path
        for folder in (machine.home / ".emacs.d", machine.dot_config / "emacs")
        for path in (
            *machine.find(folder, "elpa", "agent-shell-[0-9]*"),
            *machine.find(folder, "straight", "repos", "agent-shell"),
            *machine.find(folder, "elpaca", "*", "agent-shell"),
        )
    ],
    text=_text,
)
