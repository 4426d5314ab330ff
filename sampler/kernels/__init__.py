"""Compiled kernels: numpy arrays and an explicit generator, nothing else."""
