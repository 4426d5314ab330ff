"""Reads, checks and writes what the sampler and the page need."""
