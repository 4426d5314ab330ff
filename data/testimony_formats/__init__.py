"""Reads communities as the programs that people draw them with write them down."""
