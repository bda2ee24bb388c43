# Appended to a notebook by tools/colab.py: tries every figure to explore as a reader would.
def _try_figures_to_explore():
    import json

    import ipywidgets
    from ipywidgets.widgets import widget as base
    from ipywidgets.widgets.widget_link import Link

    every = base._instances if hasattr(base, "_instances") else ipywidgets.Widget.widgets  # 8, 7
    links = [widget for widget in every.values() if isinstance(widget, Link)]
    figures = [widget for widget in every.values() if "explore" in getattr(widget, "_dom_classes", ())]
    found = []

    def frame(widget):
        """The HTML that the reader sees: through every Tab or Stack to its selected page."""
        while getattr(widget, "children", None):
            widget = widget.children[widget.selected_index]
        return widget.value

    for number, figure in enumerate(figures, 1):
        controls = [child for child in figure.children if hasattr(child, "options")]
        pictures = figure.children[-1]
        seen = {frame(pictures)}
        for control in controls:
            for index in range(len(control.options)):
                control.index = index
                targets = [link.target for link in links if link.source[0] is control]
                for widget, trait in targets:  # what the link does in the browser
                    if len(widget.children) == len(control.options):
                        setattr(widget, trait, index)
                    else:
                        found.append(f"figure {number}: {control.description} has a choice without a picture")
                if not targets:
                    found.append(f"figure {number}: {control.description} is linked to nothing")
                seen.add(frame(pictures))
            control.index = 0
            for widget, trait in targets:
                setattr(widget, trait, 0)
        if not controls:
            found.append(f"figure {number} has no control")
        if len(seen) < 2 or not all(seen):
            found.append(f"figure {number} stays at one picture, or has an empty one")
    print(json.dumps({"figures": len(figures), "problems": sorted(set(found))}))


_try_figures_to_explore()
