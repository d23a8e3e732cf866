"""Remote sources: https, s3 and gs addresses, downloaded into a cache of whole files.

Along the data: ``address`` (what the recipe states) -> ``key`` (the credential) ->
``web`` and ``buckets`` (one request, in the terms of ``protocol``) -> ``transfer``
(retries, resuming, limits, ``pace``) -> ``content`` (is it the expected file) -> ``cache`` (atomic
replacement) -> ``local`` (the recipe with local paths).
"""
