"""Internal names of `geolookup/archives` that tests use."""

from geolookup.archives import head
from geolookup.archives.head import is_archive, open_archive, read_head
from geolookup.archives.members import header
from geolookup.archives.pack import pack, write_archive
from geolookup.archives.unpack import unpack, write_files
