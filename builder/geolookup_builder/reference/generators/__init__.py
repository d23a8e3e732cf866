"""Scripts that make the tables of this folder from public packages; users never run them."""
