"""Mapping files for products' exports: data, one file a product."""
