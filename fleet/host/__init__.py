"""The rest of a host: what it should be besides fabric, kernel and serving, what it is, and what makes it so."""
