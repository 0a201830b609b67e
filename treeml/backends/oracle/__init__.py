"""The back-end `oracle`: it examines every tree, so that other back-ends can be tested against it.

Import `backend.OracleBackend`. It is exact and slow, and shares no search code with the others.
"""
