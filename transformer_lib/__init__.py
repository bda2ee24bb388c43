"""Self-attention and Transformers: one small, tested module per idea of the lecture."""
