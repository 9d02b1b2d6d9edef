"""Reads CSV, JSON lines, ARFF, NPZ, NPY and Parquet. Errors name the place of the fault."""
