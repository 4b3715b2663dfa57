"""One file per site: who the hosts are."""
