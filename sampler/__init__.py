"""The Marked Edge Walk: arrays in, ensembles of district plans out."""
