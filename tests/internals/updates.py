"""Internal names of `geolookup/updates` that tests use."""

from geolookup.updates import in_store, unchanged
from geolookup.updates.from_archive import FromArchive
from geolookup.updates.from_mirror import FromMirror
from geolookup.updates.from_recipe import FromRecipe
from geolookup.updates.in_store import UpdateResult, target_of
