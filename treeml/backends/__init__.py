"""The back-ends, the contract that they share, and the plans that bring a problem within their reach."""
