// SPDX-License-Identifier: BSD-3-Clause
// A value that several components show.
import { useEffect, useState } from 'preact/hooks';

export interface Store<T> {
	get(): T;
	set(value: T): void;
	subscribe(listener: (value: T) => void): () => void;
}

export function createStore<T>(initial: T): Store<T> {
	const listeners = new Set<(value: T) => void>();
	let current = initial;

	return {
		get: () => current,
		set: (value) => {
			if (value === current)
				return;
			current = value;
			listeners.forEach((listener) => listener(value));
		},
		subscribe: (listener) => {
			listeners.add(listener);
			return () => listeners.delete(listener);
		},
	};
}

export function useStore<T>(store: Store<T>): T {
	const [value, setValue] = useState(store.get());

	useEffect(() => {
		setValue(store.get());
		return store.subscribe((next) => setValue(next));
	}, [store]);
	return value;
}
