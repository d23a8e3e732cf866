"""Addresses inside any text: annotated, or the condition by which lines are kept."""
