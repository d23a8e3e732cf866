"""The compiler: recipe -> sources -> ranges -> flatten -> layers -> enrich -> intern -> write."""
