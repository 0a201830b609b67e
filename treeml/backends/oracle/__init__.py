"""The back-end `oracle`: every tree is looked at, so that other back-ends can be tested against it.

Import `backend.Oracle`. It is exact and slow, and shares no search code with the others.
"""
