"""Data files of the demonstration state."""
