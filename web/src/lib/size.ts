// SPDX-License-Identifier: BSD-3-Clause
import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

/* The width of an element in pixels; 0 before it is shown. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
	const [width, setWidth] = useState(0);

	useLayoutEffect(() => {
		if (!element.current)
			return undefined;
		const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)));

		setWidth(Math.floor(element.current.clientWidth));
		observer.observe(element.current);
		return () => observer.disconnect();
	}, []);
	return width;
}
