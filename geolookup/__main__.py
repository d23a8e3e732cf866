"""``python -m geolookup`` is the ``geolookup`` command."""

from geolookup.cli import main

main()
