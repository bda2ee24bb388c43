// What is to be seen of a control (slider or menu) and of its figure.
({
    // The visible pictures of the control's figure, as text.
    seen(control) {
        const figure = control.closest('.widget-subarea') || document.body;
        const pictures = [...figure.querySelectorAll('img, svg, canvas, table, [role=img], pre')];
        const visible = node => node.checkVisibility({visibilityProperty: true}) && node.getBoundingClientRect().width > 1;
        const shown = pictures.filter(node => !node.closest('.widget-slider, .widget-dropdown') && visible(node));
        return shown.map(node => node.outerHTML).join('');
    },

    atEnd(control) {
        if (control.tagName === 'SELECT') return control.selectedIndex === control.length - 1;
        return control.ariaValueNow !== null && control.ariaValueNow === control.ariaValueMax;
    },

    name(control) {
        const by = (control.getAttribute('aria-labelledby') || '').split(/\s+/).filter(Boolean);
        const labels = [...by.map(id => document.getElementById(id)), ...(control.labels || [])];
        const texts = [control.ariaLabel, control.title, ...labels.map(label => label?.textContent)];
        return texts.map(text => (text || '').trim()).find(Boolean) || '';
    },
})
