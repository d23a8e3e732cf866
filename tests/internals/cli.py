"""Internal names of `geolookup/cli` that tests use."""

from geolookup.cli import update as repeating
from geolookup.cli.address_input import read_blocks
from geolookup.cli.command import Command, Group
from geolookup.cli.info import info
from geolookup.cli.options import complete_paths
from geolookup.cli.program import program
from geolookup.cli.registry import COMMANDS, SECTIONS, load
from geolookup.cli.terminal_text import value_text
