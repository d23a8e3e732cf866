"""Updates of a store: download what changed, compile, compare, publish, prune.

``update`` is the call and its steps; ``sources`` downloads; ``in_store`` lets one update at a time
work on a store, in a staging directory of its own, and records when one last succeeded.
"""
