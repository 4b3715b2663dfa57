"""`sparks doctor`: what is wrong with hosts and roster, told and never mended."""
