// Runs before every other script of the page.

// The widget manager and its loader find their files next to the page, never on another host.
window.require = {
    baseUrl: (document.documentElement.dataset.content_root || "./") + "_static/vendor/npm/",
};

// Should FontAwesome's script be loaded, it must leave the icons alone that widgets change.
window.FontAwesomeConfig = { observeMutations: false };
if (window.FontAwesome) window.FontAwesome.config.observeMutations = false;
