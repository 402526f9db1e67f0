/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes the page interactive: tables can be sorted and filtered, commands copied, and all plots over time zoomed
 * together. Without this script everything can still be read.
 */
'use strict';

(() => {
	const FEW_ROWS = 12; /* a longer table is shortened until the reader asks for all rows */
	const ZOOM = 1.6; /* factor of one step of the zoom buttons */
	const ZOOM_MAX = 1e-6; /* smallest part of the run that is shown */
	const BRUSH_MIN = 4; /* pixels; a shorter drag is a click */
	const SVG = 'http://www.w3.org/2000/svg';

	const all = (selector, root = document) => [...root.querySelectorAll(selector)];

	/* Creates an element: its properties, then its children. */
	function make(name, properties, ...children)
	{
		const element = Object.assign(document.createElement(name), properties);

		element.append(...children);
		return element;
	}

	function makeShape(name, parent)
	{
		const shape = document.createElementNS(SVG, name);

		shape.setAttribute('class', name === 'rect' ? 'brush' : 'cursor');
		parent.append(shape);
		return shape;
	}

	/* Tables */

	/* The value of a cell that rows are sorted by. Numbers without an attribute are written in full. */
	function sortKey(cell)
	{
		if (!cell.hasAttribute('data-v'))
			return cell.textContent.trim();
		return parseFloat(cell.dataset.v || cell.textContent);
	}

	/* Cells without a number come last, whatever the direction is. */
	function compareKeys(a, b, direction)
	{
		if (typeof a === 'number' && typeof b === 'number') {
			if (isNaN(a) || isNaN(b))
				return isNaN(a) - isNaN(b);
			return direction * (a - b);
		}
		return direction * String(a).localeCompare(String(b), 'en', { numeric: true });
	}

	class SortedTable {
		constructor(table)
		{
			this.table = table;
			this.body = table.tBodies[0];
			this.rows = [...this.body.rows];
			this.texts = this.rows.map((row) => row.textContent.toLowerCase());
			this.rows.forEach((row, i) => { row.at = i; });
			this.isExpanded = false;
			this.addTools();
			all('thead th', table).forEach((title, column) => this.addSorting(title, column));
			this.show();
		}

		addTools()
		{
			const name = this.table.closest('section').querySelector('h2').textContent;

			if (this.rows.length < 4)
				return;
			this.filter = make('input', { type: 'search', placeholder: 'Filter ...', oninput: () => this.show() });
			this.filter.setAttribute('aria-label', `Filter the table: ${name}`);
			this.count = make('output', {});
			this.expand = make('button', { type: 'button', onclick: () => this.toggle() });
			const tools = make('div', { className: 'tools' }, this.filter, this.count, this.expand);
			this.table.parentElement.before(tools);
		}

		addSorting(title, column)
		{
			const button = make('button', { type: 'button', onclick: () => this.sort(title, column) });

			button.append(...title.childNodes);
			title.append(button);
		}

		/* Numbers start with the largest, texts with the first. The same title again reverses the order. */
		sort(title, column)
		{
			const isNumber = title.classList.contains('n');
			const old = title.getAttribute('aria-sort');
			const isAscending = old ? old === 'descending' : !isNumber;
			const keys = new Map(this.rows.map((row) => [row, sortKey(row.cells[column])]));

			all('th[aria-sort]', this.table).forEach((other) => other.removeAttribute('aria-sort'));
			title.setAttribute('aria-sort', isAscending ? 'ascending' : 'descending');
			this.rows.sort((a, b) => compareKeys(keys.get(a), keys.get(b), isAscending ? 1 : -1));
			this.body.append(...this.rows);
			this.show();
		}

		toggle()
		{
			this.isExpanded = !this.isExpanded;
			this.show();
		}

		/* Shows the rows that contain all words of the filter; only the first ones unless asked for all. */
		show()
		{
			const words = this.filter ? this.filter.value.toLowerCase().split(/\s+/) : [];
			const isShort = this.rows.length <= FEW_ROWS + 3;
			const limit = this.isExpanded || isShort ? Infinity : FEW_ROWS;
			let found = 0;

			for (const row of this.rows) {
				const text = this.texts[row.at];
				const matches = words.every((word) => text.includes(word));

				found += matches;
				row.hidden = !matches || found > limit;
			}
			if (!this.filter)
				return;
			const total = this.rows.length;
			this.count.textContent = found < total ? `${found} of ${total} rows` : `${total} rows`;
			this.expand.hidden = isShort || found <= FEW_ROWS;
			this.expand.textContent = this.isExpanded ? `Show ${FEW_ROWS}` : `Show all ${found}`;
		}
	}

	/* A printed page has all rows. */
	function expandForPrint(tables)
	{
		let folded = [];

		addEventListener('beforeprint', () => {
			folded = tables.filter((table) => !table.isExpanded);
			folded.forEach((table) => table.toggle());
		});
		addEventListener('afterprint', () => folded.forEach((table) => table.toggle()));
	}

	/* Copying */

	/* Selects the text, which copies it where the clipboard cannot be used, and shows what would be copied. */
	function copySelected(element)
	{
		const selection = getSelection();

		selection.selectAllChildren(element);
		return document.execCommand('copy');
	}

	async function copyText(element)
	{
		try {
			await navigator.clipboard.writeText(element.textContent);
			return true;
		} catch {
			return copySelected(element);
		}
	}

	function addCopyButton(box)
	{
		const source = box.querySelector('code');
		const button = make('button', { type: 'button', textContent: 'Copy' });

		button.setAttribute('aria-live', 'polite');
		button.onclick = async () => {
			button.textContent = await copyText(source) ? 'Copied' : 'Select and copy';
			setTimeout(() => { button.textContent = 'Copy'; }, 2000);
		};
		box.append(button);
	}

	/* Plots over time */

	/* Distances of ticks are 1, 2 or 5 times a power of ten. */
	function chooseTicks(from, to)
	{
		const unit = 10 ** Math.floor(Math.log10((to - from) / 8));
		const step = unit * [1, 2, 5, 10].find((factor) => (to - from) / (factor * unit) <= 10);
		const ticks = [];

		for (let k = Math.ceil(from / step - 1e-9); k * step <= to + 1e-9 * step; k++)
			ticks.push(k * step);
		return { ticks, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
	}

	function formatSeconds(time, range)
	{
		return `${time.toFixed(Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(range)))))} s`;
	}

	function setAttributes(element, attributes)
	{
		for (const [name, value] of Object.entries(attributes))
			element.setAttribute(name, value);
	}

	/* A panel whose horizontal axis is time. Its area is a nested svg, so that a part of the time is a part of its viewBox. */
	class TimePanel {
		constructor(area)
		{
			const number = (name) => Number(area.getAttribute(name));

			this.area = area;
			this.ticks = area.parentElement.querySelector(`.ticks[data-panel="${area.dataset.panel}"]`);
			this.original = this.ticks ? [...this.ticks.children] : [];
			[this.from, this.to] = [Number(area.dataset.low), Number(area.dataset.high)];
			[this.left, this.top, this.width, this.height] = ['x', 'y', 'width', 'height'].map(number);
			this.box = area.getAttribute('viewBox').split(/[\s,]+/).map(Number);
			this.shown = [this.from, this.to];
			this.cursor = makeShape('line', area.parentElement);
		}

		show(from, to)
		{
			const [x, y, width, height] = this.box;
			const scale = width / (this.to - this.from);
			const isWhole = from <= this.from && to >= this.to;

			this.shown = [from, to];
			this.area.setAttribute('viewBox', `${x + (from - this.from) * scale} ${y} ${(to - from) * scale} ${height}`);
			this.area.setAttribute('overflow', isWhole ? 'visible' : 'hidden');
			this.ticks?.replaceChildren(...(isWhole ? this.original : this.makeTicks(from, to)));
			this.drawCursor(NaN);
		}

		/* Copies of the first line and label of the axis, moved to the new ticks. */
		makeTicks(from, to)
		{
			const { ticks, digits } = chooseTicks(from, to);
			const models = ['line', 'text'].map((name) => this.original.find((node) => node.nodeName === name));

			return ticks.flatMap((time) => models.filter(Boolean).map((model) => {
				const node = model.cloneNode(false), x = this.position(time);

				setAttributes(node, model.nodeName === 'line' ? { x1: x, x2: x } : { x });
				if (model.nodeName === 'text')
					node.textContent = `${digits > 9 ? time.toExponential(3) : time.toFixed(digits)} s`;
				return node;
			}));
		}

		position(time)
		{
			const [from, to] = this.shown;

			return this.left + (time - from) / (to - from) * this.width;
		}

		drawCursor(time)
		{
			const x = this.position(time), isInside = x >= this.left && x <= this.left + this.width;

			setAttributes(this.cursor, isInside ? { x1: x, x2: x, y1: this.top, y2: this.top + this.height, display: 'inline' }
				: { display: 'none' });
		}

		drawBrush(rectangle, a, b)
		{
			const x = this.position(Math.min(a, b));

			setAttributes(rectangle, { x, width: this.position(Math.max(a, b)) - x, y: this.top, height: this.height });
		}
	}

	class TimePlot {
		constructor(svg)
		{
			this.svg = svg;
			this.panels = all('svg.area', svg).map((area) => new TimePanel(area));
		}

		/* The time under the pointer; the nearest end of the axis if the pointer is beside the area. */
		timeAt(event)
		{
			const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
			const panel = this.panels[0], [from, to] = panel.shown;
			const share = (point.x - panel.left) / panel.width;

			return from + Math.min(1, Math.max(0, share)) * (to - from);
		}
	}

	/* All plots over time show the same part of the run. */
	class TimeRange {
		constructor(section, plots)
		{
			this.panels = plots.flatMap((plot) => plot.panels);
			this.from = Math.min(...this.panels.map((panel) => panel.from));
			this.to = Math.max(...this.panels.map((panel) => panel.to));
			this.command = section.querySelector('.between');
			this.addControls(section);
			plots.forEach((plot) => this.addBrush(plot));
			this.show(this.from, this.to);
		}

		addControls(section)
		{
			const actions = [['+', 'Zoom in', '+'], ['\u2212', 'Zoom out', '-'], ['\u2190', 'Earlier', 'ArrowLeft'],
				['\u2192', 'Later', 'ArrowRight'], ['Whole run', 'Show the whole run', 'Escape']];
			const buttons = actions.map(([textContent, label, key]) => {
				const button = make('button', { type: 'button', textContent, title: label, onclick: () => this.act(key) });

				button.setAttribute('aria-label', label);
				return button;
			});

			this.output = make('output', {});
			this.output.setAttribute('aria-label', 'Time shown');
			this.controls = make('div', { className: 'range' }, ...buttons, this.output);
			setAttributes(this.controls, { role: 'group', 'aria-label': 'Time range of the plots' });
			this.controls.onkeydown = (event) => this.act(event.key) && event.preventDefault();
			section.querySelector('.timeline').before(this.controls);
		}

		/* Does what a key stands for. False: it stands for nothing. */
		act(key)
		{
			const actions = { '+': () => this.zoom(1 / ZOOM), '-': () => this.zoom(ZOOM), ArrowLeft: () => this.move(-0.25),
				ArrowRight: () => this.move(0.25), Escape: () => this.show(this.from, this.to) };

			actions[key]?.();
			return key in actions;
		}

		zoom(factor)
		{
			const [from, to] = this.shown;
			const middle = (from + to) / 2, half = factor * (to - from) / 2;

			this.show(middle - half, middle + half);
		}

		move(share)
		{
			const [from, to] = this.shown;
			const distance = Math.min(this.to - to, Math.max(this.from - from, share * (to - from)));

			this.show(from + distance, to + distance);
		}

		show(from, to)
		{
			from = Math.max(this.from, from);
			to = Math.min(this.to, to);
			if (to - from < (this.to - this.from) * ZOOM_MAX)
				return;
			this.shown = [from, to];
			this.panels.forEach((panel) => panel.show(from, to));
			this.output.textContent = `${formatSeconds(from, to - from)} to ${formatSeconds(to, to - from)}`;
			this.showCommand(from, to);
		}

		/* The command that prints the calls of the time range. */
		showCommand(from, to)
		{
			const range = `${from.toFixed(9)}s:${to.toFixed(9)}s`;

			if (!this.command)
				return;
			this.command.hidden = from === this.from && to === this.to;
			this.command.querySelector('code').textContent = this.command.dataset.command.replace('FROM:TO', range);
		}

		/* Dragging selects a part of the time, a double click the whole run. */
		addBrush(plot)
		{
			const { svg, panels } = plot;
			let start = null, startX = 0, shapes = [];
			const stop = () => {
				shapes.forEach((shape) => shape.remove());
				start = null;
			};

			svg.onpointerdown = (event) => {
				if (event.button || start !== null)
					return;
				[start, startX] = [plot.timeAt(event), event.clientX];
				shapes = panels.map(() => makeShape('rect', svg));
				svg.setPointerCapture(event.pointerId);
				event.preventDefault();
			};
			svg.onpointermove = (event) => {
				const time = plot.timeAt(event);

				this.panels.forEach((panel) => panel.drawCursor(time));
				if (start !== null)
					panels.forEach((panel, i) => panel.drawBrush(shapes[i], start, time));
			};
			svg.onpointerup = (event) => {
				const from = start, time = plot.timeAt(event);

				stop();
				if (from !== null && Math.abs(event.clientX - startX) >= BRUSH_MIN)
					this.show(Math.min(from, time), Math.max(from, time));
			};
			svg.onpointercancel = stop;
			svg.onpointerleave = () => this.panels.forEach((panel) => panel.drawCursor(NaN));
			svg.ondblclick = () => this.show(this.from, this.to);
		}
	}

	/* A plot can take the whole width of the page. */
	function addEnlarging(figure)
	{
		const button = make('button', { type: 'button', textContent: 'Enlarge' });

		button.setAttribute('aria-pressed', 'false');
		button.onclick = () => button.setAttribute('aria-pressed', figure.classList.toggle('wide'));
		figure.querySelector('figcaption').append(button);
	}

	/* Theme: the system's choice counts until the reader chooses; the rules of the dark theme are in media blocks. */

	function themeRules()
	{
		return [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
			.filter((rule) => rule.media && rule.media.mediaText.includes('prefers-color-scheme'));
	}

	function addThemeButton()
	{
		const rules = themeRules();
		let isDark = matchMedia('(prefers-color-scheme: dark)').matches;
		const button = make('button', { type: 'button' });
		const name = () => { button.textContent = isDark ? 'Light theme' : 'Dark theme'; };

		button.onclick = () => {
			isDark = !isDark;
			rules.forEach((rule) => { rule.media.mediaText = isDark ? 'all' : 'not all'; });
			document.documentElement.style.colorScheme = isDark ? 'dark' : 'light';
			name();
		};
		name();
		document.querySelector('.bar-top').append(button);
	}

	expandForPrint(all('table').map((table) => new SortedTable(table)));
	all('.copy').forEach(addCopyButton);
	all('figure:not(.wide)').forEach(addEnlarging);
	for (const section of all('section')) {
		const plots = all('.timeline figure > svg', section).map((svg) => new TimePlot(svg)).filter((plot) => plot.panels.length);

		if (plots.length)
			new TimeRange(section, plots);
	}
	addThemeButton();
})();
