"""Updates of a store: download what changed, compile, compare, publish, prune.

``update`` is the call and its steps; ``sources`` downloads; ``exclusive`` lets one update at a
time work on a store, in a staging directory of its own; ``checked`` keeps when it last succeeded.
"""
