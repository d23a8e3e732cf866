"""For frameworks and logs of applications; no module imports a framework before it is used.

``asgi`` and ``wsgi`` are middleware, ``django`` is an application of Django, ``logs`` has a filter
of ``logging`` and a processor of structlog.
"""
