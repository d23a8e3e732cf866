"""Which networks have an answer: conditions, the prefixes that meet them, and their texts."""
