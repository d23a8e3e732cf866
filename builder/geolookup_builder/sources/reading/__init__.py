"""What the vendor formats share: delimited text, MMDB trees, archives, sniffing."""
