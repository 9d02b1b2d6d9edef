"""Fitted models for other software: scikit-learn pipelines and ONNX graphs."""
