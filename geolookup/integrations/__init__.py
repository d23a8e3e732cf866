"""Where applications meet the engine; none of the modules imports a framework unless it is used.

``asgi`` and ``wsgi`` are middleware, ``django`` is an application of Django, ``logs`` has a filter
of ``logging`` and a processor of structlog.
"""
