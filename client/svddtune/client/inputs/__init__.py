"""What callers pass: matrices, frames, ids, labels and display fields, checked and converted."""
