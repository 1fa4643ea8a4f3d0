"""The transcript view: the widget that shows a session's messages, tool calls and changes, and what it is made of.

`layout` decides which lines are visible, `blocks/` renders one timeline item each, `images/` shows images, and `view`
is the Textual widget that ties them together."""
