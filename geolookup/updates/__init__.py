"""Updates of a store, from a recipe, an archive or a mirror.

``run.update`` is the call; ``job`` checks its arguments. ``run`` publishes what the source of the
job offers: ``from_recipe`` compiles it, ``from_mirror`` fetches it. ``state`` is the record of it,
STORE/update.json.
"""
