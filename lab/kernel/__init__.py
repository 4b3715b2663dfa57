"""The kernel of Sparks from the operator's side: what it is, and trying another one."""
