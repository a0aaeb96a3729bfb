"""The reward server: the four-layer verifier behind HTTP, for any trainer.

`requests.py` reads a request, `scoring.py` verifies all rollouts under one limit, `metrics.py` counts, `app.py` is the
web application, `listen.py` runs it until it is told to stop. `client.py` is the other side; it needs no extra.
"""
