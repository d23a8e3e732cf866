"""A store: a folder of dataset generations, and a pointer to the current one.

::

    STORE/current                 the published generations, written atomically (``pointer``)
    STORE/generations/ID/         a dataset, immutable: the last generations
    STORE/archive/ID.tar.zst      an older generation, as one file
    STORE/changes/OLD-NEW.parquet what changed between two generations in force
    STORE/trusted/*.pem           keys; only datasets signed by one are accepted (``trusted``)
    STORE/.lock                   held by the process that changes the store (``changing``)

``geolookup.history`` publishes, lists, rolls back and prunes; ``in_force`` says which generation
was in force when, and which are kept. ``paths`` has the paths of the default dataset and of the
user's store. Engines use ``resolve`` (from a path to the current dataset), ``requirements`` (age,
fields and signature of the data) and ``watch`` (polling).
"""
