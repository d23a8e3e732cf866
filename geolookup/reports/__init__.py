"""Self-contained HTML pages: the report of a dataset, the map of a file of addresses.

A page is a list of sections (``section``), which ``page`` joins and ``write`` writes. The
folders have the modules of each page: ``dataset``, with ``changes`` for ``--against`` and
``truth`` for ``--truth``, and ``traffic``. What is here, several of them use. ``templates/`` are
Jinja's and escape every value; ``assets/`` are the styles and scripts.
"""
