"""The gate: accounts, API keys, plans, rate and quota, checked before a lookup.

>>> import geolookup
>>> from geolookup.gate import open_accounts
>>> accounts = open_accounts("sqlite:///accounts.db")
>>> key = accounts.create_key("Acme", "free")
>>> accounts.admit(key)
>>> geolookup.open().lookup("8.8.8.8")["data"]["location"]["country_code"]
'US'
"""

from __future__ import annotations

from geolookup.gate.accounts import Accounts, open_accounts
from geolookup.gate.plans import Plan, read_plans

__all__ = ["Accounts", "Plan", "open_accounts", "read_plans"]
