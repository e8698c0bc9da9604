"""The array: its slots, its views, and what becomes an array."""
