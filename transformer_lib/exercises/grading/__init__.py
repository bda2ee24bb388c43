"""Grade folders of submitted notebooks: `python -m transformer_lib.exercises grade FOLDER`.

`supervise.py` runs each notebook in a process of its own, with limits; `attend.py` is that process;
`report.py` writes what came of it.
"""
