"""Internal names of `geolookup/gate` that tests use."""

from geolookup.gate import (
    accounts_file,
    admissions,
    audit,
    backup,
    keys,
    store_health,
)
from geolookup.gate.account_store import (
    ADMITTED,
    ALL_ADMITTED,
    EXHAUSTED,
    GONE,
    Clock,
    Decision,
    Key,
    Requests,
    Store,
    wall_clock,
)
from geolookup.gate.accounts import Accounts, open_accounts
from geolookup.gate.accounts_file import AccountsFile
from geolookup.gate.backup import back_up, restore
from geolookup.gate.group_commit import MOST_STRANGERS, GroupCommit
from geolookup.gate.keys import digest, identifier, make
from geolookup.gate.plans import MAX_QUOTA, MAX_RATE, Plan, read_plans
from geolookup.gate.sqlite import SQLiteStore
