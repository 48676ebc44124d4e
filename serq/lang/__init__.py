"""Text to IR: grammar, syntax tree, names and types, lowering."""
