"""Receipts on disk: `journal` writes one while a run goes on; the rest reads them."""
