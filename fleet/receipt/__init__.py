"""Receipts: what a run did, one line per event, each chained to the line before it and to the receipts before it."""
