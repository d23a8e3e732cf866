"""Updates of a store, from a recipe, an archive or a mirror.

``update`` is the call; it checks its arguments and makes a ``Job``. ``run`` publishes what the
source of the job offers: ``from_recipe`` compiles it, ``from_mirror`` fetches it. ``state`` is the
record of it, STORE/update.json.
"""
