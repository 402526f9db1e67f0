// SPDX-License-Identifier: BSD-3-Clause
// Requests to the server. Figures of a run that is not fully indexed are asked for again until they are complete.
import { useEffect, useRef, useState } from 'preact/hooks';
import { address } from './location';
import { pending, reportCovered } from './progress';

const AGAIN_MS = 250;
const CACHED = 48;
const RECONNECT_MS = 5000;

export interface Answer<T> {
	data: T | null; /* stays while the next answer is awaited */
	error: string | null;
	isLoading: boolean;
}

interface RequestOptions {
	signal?: AbortSignal;
	exact?: boolean; /* keep integers that JavaScript cannot represent as text */
	change?: unknown; /* sent as the JSON body of a POST request */
}

const cache = new Map<string, unknown>();

function remember(path: string, data: unknown): void {
	cache.delete(path);
	cache.set(path, data);
	for (const oldest of cache.keys()) {
		if (cache.size <= CACHED)
			break;
		cache.delete(oldest);
	}
}

/* Integers that JavaScript cannot represent stay as they were written, where the browser tells. */
function exactNumbers(this: unknown, _key: string, value: unknown, context?: { source?: string }): unknown {
	const isInexact = typeof value === 'number' && !Number.isSafeInteger(value) && Number.isInteger(value);

	return isInexact && context?.source && /^-?\d+$/.test(context.source) ? context.source : value;
}

function errorText(data: unknown, status: number): string {
	if (typeof data === 'object' && data !== null && 'error' in data && typeof data.error === 'string')
		return data.error;
	return status === 401 || status === 403
		? "The server does not accept this session. Open the address that 'sluice serve' printed."
		: `The server answered with status ${status}.`;
}

async function fetchJson(path: string, options: RequestOptions): Promise<unknown> {
	const isChange = options.change !== undefined;
	const response = await fetch(address(`/api/v1${path}`), {
		signal: options.signal,
		credentials: 'same-origin',
		method: isChange ? 'POST' : 'GET',
		/* The server accepts changes only with this header, which the pages of other sites cannot send. */
		headers: isChange ? { 'Content-Type': 'application/json', 'X-Sluice': '1' } : {},
		body: isChange ? JSON.stringify(options.change) : undefined,
	});
	const text = await response.text();
	let data: unknown = null;

	try {
		data = options.exact ? JSON.parse(text, exactNumbers) : JSON.parse(text);
	} catch {
		throw new Error(response.ok ? 'The server sent an answer that is not JSON.' : errorText(null, response.status));
	}
	if (!response.ok)
		throw new Error(errorText(data, response.status));
	return data;
}

export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
	pending.set(pending.get() + 1);
	try {
		return await fetchJson(path, options) as T;
	} finally {
		pending.set(pending.get() - 1);
	}
}

/* Changes something. What was kept of earlier answers is asked for again. */
export async function post<T>(path: string, body: object): Promise<T> {
	const data = await request<T>(path, { change: body });

	cache.clear();
	return data;
}

function coveredPart(data: unknown): number {
	if (typeof data === 'object' && data !== null && 'covered' in data && typeof data.covered === 'number')
		return data.covered;
	return 1;
}

function failure(error: unknown): string {
	if (error instanceof TypeError)
		return "The server cannot be reached. Start it again with 'sluice serve'.";
	return error instanceof Error ? error.message : String(error);
}

/*
 * The answer of a path of the API; null asks for nothing. `isFixed` keeps the answer for the next time: only for what
 * never changes once it is complete.
 */
export function useApi<T>(path: string | null, options: { isFixed?: boolean; exact?: boolean } = {}): Answer<T> {
	const known = path !== null ? cache.get(path) as T | undefined : undefined;
	const [answer, setAnswer] = useState<Answer<T>>({ data: known ?? null, error: null, isLoading: path !== null && !known });

	useEffect(() => {
		const abort = new AbortController();
		let timer = 0;

		async function ask(): Promise<void> {
			if (path === null)
				return;
			try {
				const data = await request<T>(path, { signal: abort.signal, exact: options.exact });
				const covered = coveredPart(data);

				if (abort.signal.aborted)
					return;
				reportCovered(path, covered);
				if (covered < 1)
					timer = window.setTimeout(ask, AGAIN_MS);
				else if (options.isFixed)
					remember(path, data);
				setAnswer({ data, error: null, isLoading: false });
			} catch (error) {
				if (!abort.signal.aborted)
					setAnswer({ data: null, error: failure(error), isLoading: false });
			}
		}

		if (path === null) {
			setAnswer({ data: null, error: null, isLoading: false });
			return undefined;
		}
		const cached = cache.get(path) as T | undefined;
		if (cached) {
			setAnswer({ data: cached, error: null, isLoading: false });
			return undefined;
		}
		setAnswer((old) => ({ ...old, error: null, isLoading: true }));
		void ask();
		return () => {
			abort.abort();
			clearTimeout(timer);
			reportCovered(path, 1);
		};
	}, [path]);
	return answer;
}

export type StreamState = 'connecting' | 'open' | 'ended';

/*
 * Follows a stream of events of the API; null follows nothing. Each event is JSON, and is passed to the handler of its
 * name. A connection that breaks is made again, and the server then sends what the page needs; after the event "end" it
 * is not.
 */
export function useEvents(path: string | null, handlers: Record<string, (data: unknown) => void>): StreamState {
	const [state, setState] = useState<StreamState>('connecting');
	const latest = useRef(handlers);
	const names = Object.keys(handlers).join(' ');

	latest.current = handlers;
	useEffect(() => {
		let source: EventSource | null = null;
		let timer = 0;

		function connect(): void {
			const opened = new EventSource(address(`/api/v1${path}`));

			source = opened;
			opened.onopen = () => setState('open');
			opened.onerror = () => {
				setState('connecting');
				/* A browser tries again by itself unless the server has refused. */
				if (opened.readyState === EventSource.CLOSED)
					timer = window.setTimeout(connect, RECONNECT_MS);
			};
			for (const name of names.split(' '))
				opened.addEventListener(name, (event) => latest.current[name]?.(JSON.parse((event as MessageEvent<string>).data)));
			opened.addEventListener('end', () => {
				opened.close();
				setState('ended');
			});
		}

		if (path === null)
			return undefined;
		setState('connecting');
		connect();
		return () => {
			clearTimeout(timer);
			source?.close();
		};
	}, [path, names]);
	return state;
}
