"""The gate: accounts, API keys, plans, rate and quota, checked before a lookup.

>>> import geolookup
>>> from geolookup.gate import Service, open_accounts
>>> accounts = open_accounts("sqlite:///accounts.db")
>>> key = accounts.create_key("Acme", "free")
>>> service = Service(geolookup.open(), accounts)
>>> service.lookup("8.8.8.8", api_key=key)["data"]["location"]["country_code"]
'US'
"""

from __future__ import annotations

from geolookup.gate.accounts import Accounts, open_accounts
from geolookup.gate.plans import Plan, Plans, read_plans
from geolookup.gate.service import Service

__all__ = ["Accounts", "Plan", "Plans", "Service", "open_accounts", "read_plans"]
