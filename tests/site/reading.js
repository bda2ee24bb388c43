// What a reader of the page meets; each function returns the faults it finds as sentences.
({
    content: () => document.querySelector('main article') || document.querySelector('main') || document.body,

    texts(root) {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), found = [];
        while (walker.nextNode()) if (walker.currentNode.data.trim()) found.push(walker.currentNode);
        return found;
    },

    overflow() {
        const width = document.documentElement.clientWidth, faults = [];
        const right = node => node.getBoundingClientRect().right;
        // Inside a box that scrolls by itself and fits the page, anything may be wide.
        const scrolls = node => {
            for (let box = node; box && box !== document.body; box = box.parentElement)
                if (/auto|scroll/.test(getComputedStyle(box).overflowX) && right(box) <= width + 1) return true;
            return false;
        };
        const name = node => node.tagName.toLowerCase() + [...node.classList].map(c => '.' + c).join('');
        const page = document.documentElement.scrollWidth;
        if (page > width) {
            const wide = [...document.body.querySelectorAll('*')].filter(n => right(n) > width + 1 && !scrolls(n));
            const inner = wide.filter(node => ![...node.children].some(child => wide.includes(child)));
            faults.push(`the page is ${page} px wide at ${width} px: ${inner.slice(0, 5).map(name).join(', ')}`);
        }
        const range = document.createRange();
        for (const text of this.texts(this.content())) {
            const parent = text.parentElement;
            if (!parent.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
            range.selectNodeContents(text);
            const box = range.getBoundingClientRect();
            if (Math.min(box.width, box.height) < 2 || box.left >= width || box.right <= width + 1) continue;
            if (!scrolls(parent)) faults.push(`cut off at ${width} px: ${name(parent)} "${text.data.trim().slice(0, 60)}"`);
        }
        return faults;
    },

    // The smallest letters of each drawing, as they come out on the screen.
    smallPrint(least) {
        const smallest = new Map();
        for (const text of this.content().querySelectorAll('svg text')) {
            if (!text.checkVisibility({visibilityProperty: true}) || !text.textContent.trim()) continue;
            const {a, b} = text.getScreenCTM(), size = parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b);
            const drawing = text.ownerSVGElement;
            if (size < (smallest.get(drawing) || least)) smallest.set(drawing, size);
        }
        return [...smallest].map(([drawing, size]) =>
            `letters of ${size.toFixed(1)} px, under ${least}: ${drawing.outerHTML.slice(0, 120)}`);
    },

    mathematics(expected) {
        const content = this.content(), faults = [];
        for (const node of content.querySelectorAll('mjx-merror, merror, [data-mjx-error]'))
            faults.push(`mathematics with an error: ${node.getAttribute('data-mjx-error') || node.textContent}`);
        for (const node of content.querySelectorAll('.math'))
            if (!node.querySelector('mjx-container'))
                faults.push(`mathematics not set: ${node.textContent.trim().slice(0, 80)}`);
        if (expected && !content.querySelector('mjx-container'))
            faults.push('no formula on a page whose source has some');
        const raw = /\$\$|\$[^$\s](?:[^$\n]*[^$\s])?\$|\\\(|\\\[|\\begin\{/;
        for (const text of this.texts(content))
            if (!text.parentElement.closest('pre, code, script, style, textarea, mjx-container') && raw.test(text.data))
                faults.push(`raw mathematics: ${text.data.trim().slice(0, 80)}`);
        return faults;
    },

    described(node) {
        const by = (node.getAttribute('aria-labelledby') || '').split(/\s+/).filter(Boolean)
            .map(id => document.getElementById(id)?.textContent || '').join(' ');
        const title = node.tagName === 'svg' ? node.querySelector(':scope > title')?.textContent : '';
        const texts = [node.getAttribute('aria-label'), node.getAttribute('alt'), by, title];
        return texts.map(text => (text || '').trim()).find(Boolean) || '';
    },

    pictures() {
        const faults = [];
        for (const node of this.content().querySelectorAll('img, svg, canvas, [role=img]')) {
            if (node.closest('[aria-hidden=true], mjx-container') || node.parentElement.closest('[role=img]')) continue;
            if (node.matches('[role=presentation], [role=none]')) continue;
            const where = node.outerHTML.slice(0, 120), text = this.described(node);
            if (!text) faults.push(`a picture without alternative text: ${where}`);
            else if (/^\S+\.(png|svg|jpe?g|gif)$/i.test(text)) faults.push(`a file name for alternative text: ${text}`);
            else if (/[{}]|\bNone\b|\bnan\b/.test(text)) faults.push(`an unfilled alternative text: ${text}`);
            if (node.tagName === 'svg' && !node.closest('[role]'))
                faults.push(`a drawing without role="img": ${where}`);
        }
        return faults;
    },

    structure() {
        const faults = [];
        if (!document.documentElement.lang) faults.push('the page does not say its language');
        if (!document.title.trim()) faults.push('the page has no title');
        const heads = [...this.content().querySelectorAll('h1, h2, h3, h4, h5, h6')].filter(h => h.checkVisibility());
        const level = head => Number(head.tagName[1]);
        const first = heads.filter(head => level(head) === 1).length;
        if (first !== 1) faults.push(`${first} first-level headings instead of one`);
        if (heads.length && level(heads[0]) !== 1) faults.push(`the first heading is ${heads[0].tagName}`);
        heads.forEach((head, i) => {
            const text = head.textContent.replace('#', '').trim();
            if (!text) faults.push(`an empty heading ${head.outerHTML.slice(0, 80)}`);
            if (i && level(head) > level(heads[i - 1]) + 1)
                faults.push(`${head.tagName} "${text}" follows ${heads[i - 1].tagName}`);
        });
        return faults;
    },

    // The next press of Tab starts at the very top of the page.
    toTheTop() {
        const top = document.createElement('span');
        top.tabIndex = -1;
        document.body.prepend(top);
        top.focus();
        top.remove();
    },

    // The focused element: a number of its own and how it begins; empty when the page itself has the focus.
    focused() {
        const node = document.activeElement;
        if (!node || node === document.body || node === document.documentElement) return '';
        window.numberedStops ??= new Map();
        if (!window.numberedStops.has(node)) window.numberedStops.set(node, window.numberedStops.size);
        return `${window.numberedStops.get(node)} ${node.outerHTML.slice(0, 100)}`;
    },
})
