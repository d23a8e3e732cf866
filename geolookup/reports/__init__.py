"""Self-contained HTML pages: the report of a dataset, the map of a file of addresses.

A page is a list of sections (``section``), each made by a module of this room; ``page`` joins
them. ``templates/`` are Jinja's and escape every value; ``assets/`` are the styles and scripts.
"""
