"""A store: a folder of dataset generations, and a pointer to the one that answers.

::

    STORE/current                 which generations were published; replaced whole (``pointer``)
    STORE/generations/ID/         a dataset, never changed (``publish``)
    STORE/.lock                   held by whoever changes the store (``change``)

One module a command: ``publish``, ``rollback``, ``generations``, ``prune``. ``follow`` is
what engines use: from a path, a store's or a dataset's, to the dataset it means now.
"""
