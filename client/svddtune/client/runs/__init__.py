"""A run from data to model in one call: `tune`, its service, its folder, its resumption."""
