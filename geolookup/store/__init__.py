"""A store: a folder of dataset generations, and a pointer to the current one.

::

    STORE/current                 the published generations, written atomically (``pointer``)
    STORE/generations/ID/         a dataset, immutable (``publish``)
    STORE/.lock                   held by the process that changes the store (``changing``)

``publish`` adds a generation; ``generations`` lists, rolls back and prunes. Engines use
``follow`` (from a path to the current dataset), ``requirements`` (age and fields of the data)
and ``watch`` (polling).
"""
