"""The operator's side: sites, the `sparks` command, transports."""
