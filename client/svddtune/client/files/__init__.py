"""Files people bring: CSV, JSON lines, ARFF, NPZ, NPY and Parquet, with the place of each fault."""
