// Runs before every other script of the page.

// The widget manager and its loader find their files next to the page, never on another host.
window.require = {
    baseUrl: (document.documentElement.dataset.content_root || "./") + "_static/vendor/npm/",
};

// Should FontAwesome's script be loaded, it must leave the icons alone that widgets change.
window.FontAwesomeConfig = { observeMutations: false };
if (window.FontAwesome) window.FontAwesome.config.observeMutations = false;

document.addEventListener("DOMContentLoaded", () => {
    // The widget manager asks for mathematics as MathJax 2 did; the pages have MathJax 3.
    if (window.MathJax?.startup) {
        window.MathJax.Hub = {
            Queue: ([, , element]) => MathJax.startup.promise.then(() => MathJax.typesetPromise([element])),
        };
    }
});

// Accessible names that the theme and the widgets leave out or get wrong.
const nameOf = (slider) => slider.querySelector(".widget-label")?.textContent.trim() || "value";

function nameSliders(root) {
    for (const handle of root.querySelectorAll(".widget-slider [role=slider]")) {
        const slider = handle.closest(".widget-slider");
        const value = slider.querySelector(".widget-readout")?.textContent.trim();
        if (handle.getAttribute("aria-label") !== nameOf(slider)) handle.setAttribute("aria-label", nameOf(slider));
        if (value && handle.getAttribute("aria-valuetext") !== value) handle.setAttribute("aria-valuetext", value);
    }
}

document.addEventListener("DOMContentLoaded", () => {
    // These labels hide the words that are to be seen.
    for (const node of document.querySelectorAll(".search-button-field, details.hide > summary")) {
        node.removeAttribute("aria-label");
    }
    // The widget manager draws its controls later, and changes what stands beside them.
    const text = document.querySelector("main");
    if (text?.querySelector('script[type="application/vnd.jupyter.widget-view+json"]')) {
        const changes = { childList: true, subtree: true, characterData: true };
        new MutationObserver(() => nameSliders(text)).observe(text, changes);
    }
});
