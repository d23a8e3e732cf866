"""The fleet: many edges that follow one mirror behind a slow, lossy link."""
