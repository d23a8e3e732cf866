"""How long a dataset takes until its first answer, by its size."""
