"""Sources that lie elsewhere: https, s3 and gs addresses, fetched into a cache of whole files.

Along the data: place (what the recipe says) -> origins (web, buckets) -> transfer (attempts,
resuming) -> content (is it what was wanted) -> cache (the swap) -> sources (the
recipe, made local).
"""
