"""A store: a folder of dataset generations, and a pointer to the current one.

::

    STORE/current                 the published generations, written atomically (``pointer``)
    STORE/generations/ID/         a dataset, immutable (``adding``)
    STORE/history/ID.tar.zst      a generation that is kept as a delta
    STORE/trusted/*.pem           keys; only datasets signed by one are accepted (``trusted``)
    STORE/.lock                   held by the process that changes the store (``changing``)

``adding`` adds a verified generation; ``generations`` lists, rolls back and prunes; ``signatures``
signs; ``paths`` has the paths of the default dataset and of the user's store. Engines use
``resolve`` (from a path to the current dataset), ``requirements`` (age, fields and signature of the
data) and ``watch`` (polling).
"""
