"""The terminal around the app: restoring it, its background color, keyboard, notifications, painting, and programs
that borrow it. Access to Textual's private names is gathered in `textual_internals`."""
