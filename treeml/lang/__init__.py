"""The .tml language: text -> syntax tree -> checked spec, and back to text."""
