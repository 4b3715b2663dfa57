"""What stands in the way of a Spark that should forward between its rails."""

TRANSIT: dict[str, tuple[str, str]] = {
    "transit_overridden": (
        "a sysctl.d file that is read after ours gives a rail's `forwarding` or `rp_filter` another value, and would "
        "win at the next boot",
        "take the line out of that file",
    ),
    "transit_blocked": (
        "the host's own firewall drops packets between its rails, even with our rules in `DOCKER-USER`: a rule or a "
        "policy of iptables, a native nftables chain, or firewalld. The sentence names it",
        "let its owner accept what goes from rail to rail: see [transit](../transit.md)",
    ),
}
"""By code: what it means, and what to do."""
