"""A Sphinx extension: pages without what they do not use, and with the Colab button in sight."""

from __future__ import annotations

# Scripts and styles of Jupyter Book for running cells on a remote server, which this book does not offer.
UNUSED = ("thebe", "THEBE")


def leave_out_unused(app, pagename, templatename, context, doctree) -> None:
    for kind in ("script_files", "css_files"):
        context[kind] = [
            file
            for file in context.get(kind, [])
            if not any(name in f"{file.filename} {file.attributes.get('body', '')}" for name in UNUSED)
        ]


def show_colab(app, pagename, templatename, context, doctree) -> None:
    """The theme hides its launch button in a menu of one entry: put the entry in its place."""
    buttons = context.get("header_buttons", [])
    for place, button in enumerate(buttons):
        entries = button.get("buttons", [])
        if button.get("label") == "launch-buttons" and len(entries) == 1:
            shown = {"text": "Open in Colab", "tooltip": None, "icon": "fa-solid fa-play", "label": "colab"}
            buttons[place] = {**entries[0], **shown}


def name_first_page(app, pagename, templatename, context, doctree) -> None:
    """The first page has the book's own title: in the list of pages it goes by what it is for."""
    context["root_title"] = "Start here"


def setup(app) -> dict:
    for change in (leave_out_unused, show_colab, name_first_page):
        app.connect("html-page-context", change, priority=900)  # after the theme's own
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
