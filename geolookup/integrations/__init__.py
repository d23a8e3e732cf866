"""Where applications meet the engine; none of the modules imports a framework unless it is used."""
