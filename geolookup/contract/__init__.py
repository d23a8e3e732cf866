"""What an answer says: addresses, special-purpose space, local time and the envelope."""
