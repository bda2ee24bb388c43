// The contrast of every visible text with what lies behind it (WCAG 2.2, 1.4.3).
// Behind a text of a drawing lie the drawing's own shapes and bitmaps; behind all text, the boxes around it.
async root => {
    const faults = [], canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const known = new Map(), bitmaps = new Map();

    const colour = css => {
        if (known.has(css)) return known.get(css);
        const part = css.match(/^(rgba?|color)\(([^)]*)\)$/);
        let value;
        if (part) {
            const numbers = part[2].replace('srgb', '').split(/[\s,/]+/).filter(Boolean).map(parseFloat);
            const scale = part[1] === 'color' ? 255 : 1;
            value = [...numbers.slice(0, 3).map(n => n * scale), numbers.length > 3 ? numbers[3] : 1];
        } else {
            canvas.clearRect(0, 0, 1, 1);
            canvas.fillStyle = css;
            canvas.fillRect(0, 0, 1, 1);
            const data = canvas.getImageData(0, 0, 1, 1).data;
            value = [data[0], data[1], data[2], data[3] / 255];
        }
        known.set(css, value);
        return value;
    };
    const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
    const light = c => {
        const [r, g, b] = c.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ratio = (a, b) => {
        const [dark, bright] = [light(a), light(b)].sort((x, y) => x - y);
        return (bright + 0.05) / (dark + 0.05);
    };
    // The colours that may lie behind an element: one, or each stop of a gradient.
    const behind = node => {
        const layers = [];
        for (let box = node; box; box = box.parentElement) {
            const style = getComputedStyle(box), stops = style.backgroundImage.match(/(rgba?|color)\([^)]*\)/g);
            if (stops) layers.push(stops.map(colour));
            const flat = colour(style.backgroundColor);
            if (flat[3] > 0) layers.push([flat]);
            if (flat[3] === 1) break;
        }
        return layers.reverse().reduce(
            (below, layer) => below.flatMap(under => layer.map(top => over(top, under))), [[255, 255, 255, 1]]);
    };
    const seeThrough = (node, last) => {
        let opacity = 1;
        for (let box = node; box && box !== last; box = box.parentElement) opacity *= parseFloat(getComputedStyle(box).opacity);
        return opacity;
    };
    const bitmap = async image => {
        if (!bitmaps.has(image)) {
            const source = new Image();
            source.src = image.href.baseVal;
            await source.decode();
            const sheet = document.createElement('canvas');
            [sheet.width, sheet.height] = [source.naturalWidth, source.naturalHeight];
            const context = sheet.getContext('2d', {willReadFrequently: true});
            context.drawImage(source, 0, 0);
            bitmaps.set(image, context);
        }
        return bitmaps.get(image);
    };
    // The colour that a shape or bitmap of a drawing lays under a point of the screen, or null.
    const painted = async (shape, x, y) => {
        const matrix = shape.getScreenCTM();
        if (!matrix) return null;
        const point = new DOMPoint(x, y).matrixTransform(matrix.inverse());
        if (shape.tagName !== 'image') {
            const style = getComputedStyle(shape);
            if (style.fill === 'none' || style.fill.startsWith('url') || !shape.isPointInFill(point)) return null;
            const [r, g, b, a] = colour(style.fill);
            return [r, g, b, a * parseFloat(style.fillOpacity) * seeThrough(shape, shape.ownerSVGElement)];
        }
        const box = shape.getBBox();
        const [u, v] = [(point.x - box.x) / box.width, (point.y - box.y) / box.height];
        if (u < 0 || u >= 1 || v < 0 || v >= 1) return null;
        const sheet = await bitmap(shape);
        const data = sheet.getImageData(Math.floor(u * sheet.canvas.width), Math.floor(v * sheet.canvas.height), 1, 1).data;
        return [data[0], data[1], data[2], data[3] / 255];
    };
    const behindInDrawing = async (node, box) => {
        const outer = node.ownerSVGElement.closest('svg');
        let drawing = outer;
        while (drawing.parentElement.closest('svg')) drawing = drawing.parentElement.closest('svg');
        const shapes = [...drawing.querySelectorAll('path, rect, circle, ellipse, polygon, image')].filter(shape =>
            !shape.closest('defs, clipPath, mask, symbol') && !node.contains(shape) && shape.checkVisibility({visibilityProperty: true}) &&
            shape.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING);
        const found = [];
        for (const part of [0.1, 0.5, 0.9]) {
            let below = behind(drawing);
            for (const shape of shapes) {
                const paint = await painted(shape, box.left + part * box.width, box.top + box.height / 2);
                if (paint && paint[3] > 0) below = below.map(under => over(paint, under));
            }
            found.push(...below);
        }
        return found;
    };
    const measure = async (node, box, ink, size, weight, text) => {
        const inDrawing = node instanceof SVGElement && node.ownerSVGElement;
        const grounds = inDrawing ? await behindInDrawing(node, box) : behind(node);
        const opacity = seeThrough(node, null), needed = size >= 24 || (size >= 18.66 && weight >= 700) ? 3 : 4.5;
        const worst = Math.min(...grounds.map(under => ratio(over([ink[0], ink[1], ink[2], ink[3] * opacity], under), under)));
        if (worst < needed - 0.005) {
            const place = node.tagName.toLowerCase() + [...node.classList].map(c => '.' + c).join('');
            const inks = grounds.map(under => under.slice(0, 3).map(Math.round)).map(c => `rgb(${c})`);
            faults.push(`contrast ${worst.toFixed(2)} instead of ${needed}: ${place} "${text.trim().slice(0, 50)}" ` +
                `rgb(${ink.slice(0, 3).map(Math.round)}) on ${[...new Set(inks)].slice(0, 2).join(' or ')}`);
        }
    };
    const visible = node => node.checkVisibility({visibilityProperty: true, opacityProperty: true}) &&
        !node.closest(':disabled, [aria-disabled=true]');

    const content = document.querySelector(root) || document.body;
    const texts = document.createTreeWalker(content, NodeFilter.SHOW_TEXT), range = document.createRange();
    const done = new Set();
    while (texts.nextNode()) {
        const node = texts.currentNode.parentElement;
        if (!texts.currentNode.data.trim() || node.closest('script, style, noscript, mjx-assistive-mml')) continue;
        if (!visible(node) || (done.has(node) && !(node instanceof SVGElement))) continue;
        done.add(node);
        range.selectNodeContents(texts.currentNode);
        const box = node instanceof SVGElement ? node.getBoundingClientRect() : range.getBoundingClientRect();
        if (box.width < 2 || box.height < 2) continue;
        const style = getComputedStyle(node), svg = node instanceof SVGElement && node.ownerSVGElement;
        if (svg && style.fill === 'none') continue;
        const ink = [...colour(svg && !style.fill.startsWith('url') ? style.fill : style.color)];
        const scale = svg ? Math.hypot(node.getScreenCTM().a, node.getScreenCTM().b) : 1;
        if (svg) ink[3] *= parseFloat(style.fillOpacity);
        await measure(node, box, ink, parseFloat(style.fontSize) * scale, Number(style.fontWeight), texts.currentNode.data);
    }
    // Formulas are drawn by pseudo-elements; those in a plot are outlines, one scaled group each.
    for (const node of content.querySelectorAll('mjx-container')) {
        if (!visible(node) || node.getBoundingClientRect().width < 2) continue;
        const style = getComputedStyle(node);
        await measure(node, null, colour(style.color), parseFloat(style.fontSize), 400, 'a formula');
    }
    for (const node of content.querySelectorAll('svg g[transform*=scale]:has(> use)')) {
        const box = node.getBoundingClientRect(), style = getComputedStyle(node.querySelector('use'));
        if (box.width < 2 || style.fill === 'none' || !visible(node)) continue;
        await measure(node, box, colour(style.fill), box.height, 400, 'a formula in a drawing');
    }
    return faults;
}
