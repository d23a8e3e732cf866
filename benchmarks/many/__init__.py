"""Many addresses at once, against single calls and other readers."""
