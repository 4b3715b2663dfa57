"""From what is there to the roster rows that declare it: of a host as it was seen, or of another tool's map."""
