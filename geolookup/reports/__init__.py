"""Self-contained HTML pages: the report of a dataset, the map of a file of addresses.

A page is a list of sections (``section``), which ``page`` joins and writes. ``dataset`` has the
sections of a dataset, ``changes`` those of ``--against``, ``truth`` those of ``--truth``, and
``traffic_page`` those of ``geolookup map``. Their maps are in ``address_maps`` and ``world_map``.
``templates/`` are Jinja's and escape every value; ``assets/`` are the styles and scripts.
"""
