"""Types that are the same in both versions of the protocol, by topic.

Each version exports them as its own; import them from there."""
