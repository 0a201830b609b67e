"""A specification, its data and a tree -> a certificate that anybody can check: docs/certificates.md."""
