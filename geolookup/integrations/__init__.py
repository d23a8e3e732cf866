"""For frameworks and logs of applications; no module imports a framework before it is used.

``middleware`` is for ASGI and WSGI, ``django`` an application of Django, ``logs`` has a filter of
``logging`` and a processor of structlog.
"""
