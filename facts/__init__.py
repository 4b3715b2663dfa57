"""Looking: each fact is one read-only command and one pure parser."""
