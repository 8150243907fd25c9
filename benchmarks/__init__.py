"""Measurements of speed; what they mean and why they are what they are: speed.md."""
