"""A store: a folder of dataset generations, and a pointer to the current one.

::

    STORE/current                 the published generations, written atomically (``pointer``)
    STORE/generations/ID/         a dataset, immutable (``publish``)
    STORE/trusted/*.pem           keys: only what one of them signed is accepted (``trusted``)
    STORE/.lock                   held by the process that changes the store (``changing``)

``publish`` adds a generation; ``generations`` lists, rolls back and prunes; ``sign`` signs the
current one again. ``signatures`` has ``signature.json``. Engines use ``resolve`` (from a
path to the current dataset), ``requirements`` (age, fields and signature of the data) and ``watch``
(polling).
"""
