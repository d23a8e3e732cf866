"""A dataset as a source: its answers without the files behind them."""
