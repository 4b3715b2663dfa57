"""Tests of the facts: data in folders named after them, and how a look behaves."""
