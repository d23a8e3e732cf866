"""Updates of a store: download what changed, compile, compare, publish, prune.

``update`` is the call. ``from_recipe`` compiles, ``sources`` downloads; ``arriving`` takes archives
and mirrors. ``in_store`` lets one update at a time work on a store, in a staging directory of its
own, and records when one last succeeded.
"""
