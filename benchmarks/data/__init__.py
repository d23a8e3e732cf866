"""The generated sources, and the datasets and MMDB files made of them."""
