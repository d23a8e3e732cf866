"""Self-contained HTML pages: the report of a dataset, the map of a file of addresses.

A page is a list of sections (``section``). ``page`` joins and writes them. ``dataset`` has the
sections of a dataset, ``changes`` of ``--against``, ``truth`` of ``--truth``, and ``traffic_page``
of ``geolookup map``. Maps of addresses are in ``address_maps``.
``templates/`` are Jinja's and escape every value; ``assets/`` are the styles and scripts.
"""
