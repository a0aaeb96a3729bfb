"""Measures what the system is worth.

`dataset`: a method over many problems. `oracle`: who grades. `methods`: what can be run. `calibrate`: a verifier's
card. `study`: what each part of the search is worth. `lab`: the whole pipeline, trained and measured.
"""
