"""The rules of long nardy (and the shape of short nardy) as NumPy arrays in, NumPy arrays out. See RULES.md here."""
