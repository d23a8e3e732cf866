"""Internal names of `geolookup/archives` that tests use."""

from geolookup.archives import members
from geolookup.archives.extract import extract, write_files
from geolookup.archives.head import LARGEST_MANIFEST, Head, is_archive, open_archive
from geolookup.archives.members import header
from geolookup.archives.pack import pack, write_archive
from geolookup.archives.unpack import unpack
