"""What every benchmark shares: measuring, address lists, processes, reports."""
