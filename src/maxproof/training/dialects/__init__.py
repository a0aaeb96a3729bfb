"""One CISPO, in the language of other trainers.

`spec.py` is what is translated; one file a trainer translates it; `trainers.py` lists them; `text.py` writes YAML and
command lines; `hooks.py` has the texts of reward and filter functions; `groups.py` is the group filter for a reward
function. No trainer is imported here: texts are written, and tests compare what they mean.
"""
