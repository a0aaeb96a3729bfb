"""Hacking signals: a dashboard and alarms on the rollouts of any trainer. See `types.py` for what is measured.

Reading rollouts needs the extra `monitor`; the types and the alarms do not.
"""
