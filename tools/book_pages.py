"""A Sphinx extension: each page of the book without scripts that it does not use."""

from __future__ import annotations

# Scripts of Jupyter Book for running cells on a remote server, which this book does not offer.
UNUSED = ("thebe", "THEBE")


def leave_out_unused(app, pagename, templatename, context, doctree) -> None:
    scripts = context.get("script_files", [])
    context["script_files"] = [
        script
        for script in scripts
        if not any(name in f"{script.filename} {script.attributes.get('body', '')}" for name in UNUSED)
    ]


def setup(app) -> dict:
    app.connect("html-page-context", leave_out_unused, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
