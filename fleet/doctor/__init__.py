"""What is wrong with a host or a roster: checks that look and never change anything. Pure."""
