"""The source formats, one module each; ``sources`` registers them."""
