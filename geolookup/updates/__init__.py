"""Updates of a store, from a recipe, an archive or a mirror.

``update`` is the call; it checks its arguments and makes a ``Job``. ``run`` runs it: ``from_recipe``
compiles, ``from_archive`` and ``from_mirror`` read an archive, and each offers one dataset to the
store. ``state`` is the record of it, STORE/update.json.
"""
