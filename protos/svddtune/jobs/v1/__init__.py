"""Generated from the .proto files in this folder; ``make protos`` makes it anew."""
