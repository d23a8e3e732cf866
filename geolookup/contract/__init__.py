"""The contract of answers: addresses, special-purpose space, fields, local time, envelope."""
