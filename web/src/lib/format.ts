// SPDX-License-Identifier: BSD-3-Clause
// Numbers with units, as the command line prints them (src/base/unit.c).

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const UNKNOWN = '–';

function threeDigits(value: number): string {
	return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

export function formatBytes(bytes: number): string {
	let unit = 0;

	while (bytes >= 999.5 && unit + 1 < BYTE_UNITS.length) {
		bytes /= 1024;
		unit++;
	}
	return `${unit ? threeDigits(bytes) : bytes.toFixed(0)} ${BYTE_UNITS[unit]}`;
}

export function formatTime(ns: number): string {
	const seconds = Math.floor(ns / 1e9);

	if (ns < 0)
		return `-${formatTime(-ns)}`;
	if (seconds >= 3600)
		return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
	if (seconds >= 100)
		return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
	if (ns >= 999.5e6)
		return `${threeDigits(ns / 1e9)} s`;
	if (ns >= 999.5e3)
		return `${threeDigits(ns / 1e6)} ms`;
	if (ns >= 1e3)
		return `${threeDigits(ns / 1e3)} µs`;
	return `${Math.round(ns)} ns`;
}

export function formatRate(bytes: number, ns: number): string {
	return ns > 0 && bytes > 0 ? `${formatBytes(bytes * 1e9 / ns)}/s` : UNKNOWN;
}

export function formatShare(part: number, whole: number): string {
	return whole > 0 && !isNaN(part) ? `${(100 * part / whole).toFixed(1)}%` : UNKNOWN;
}

const counts = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

export function formatCount(count: number): string {
	return counts.format(count);
}

/* A count in little space, for axes: 1.2k, 35M. */
export function formatShortCount(count: number): string {
	const units = ['', 'k', 'M', 'G', 'T'];
	let unit = 0;

	while (Math.abs(count) >= 1000 && unit + 1 < units.length) {
		count /= 1000;
		unit++;
	}
	return `${Number(count.toPrecision(3))}${units[unit]}`;
}

/* Seconds with all nine digits: the exact time of a call. */
export function formatSeconds(ns: number): string {
	const whole = Math.floor(Math.abs(ns) / 1e9), rest = Math.round(Math.abs(ns) - whole * 1e9);

	return `${ns < 0 ? '-' : ''}${whole}.${String(rest).padStart(9, '0')}`;
}

/* A time on an axis or in the range bar, with the digits that tell it from others `step_ns` apart. */
export function formatPosition(ns: number, step_ns: number): string {
	const [unit, name] = ns === 0 && step_ns === 0 ? [1e9, 's']
		: Math.max(Math.abs(ns), step_ns) >= 1e9 ? [1e9, 's']
			: Math.max(Math.abs(ns), step_ns) >= 1e6 ? [1e6, 'ms'] : [1e3, 'µs'];
	const digits = step_ns > 0 ? Math.ceil(Math.log10(unit / step_ns) - 1e-9) : 0;

	return `${(ns / unit).toFixed(Math.min(9, Math.max(0, digits)))} ${name}`;
}

export function formatMicroseconds(ns: number): string {
	return (ns / 1e3).toFixed(3);
}

export function formatDate(started_ns: number): string {
	const date = new Date(Math.round(started_ns / 1e6));

	if (isNaN(date.getTime()))
		return UNKNOWN;
	return date.toISOString().slice(0, 19).replace('T', ' ');
}

export function formatRatio(ratio: number): string {
	return ratio === 0 ? '0' : threeDigits(ratio);
}

export function plural(count: number, noun: string, nouns = `${noun}s`): string {
	return `${formatCount(count)} ${count === 1 ? noun : nouns}`;
}

/* The unknown value of the server is null. */
export function known<T>(value: T | null | undefined, format: (value: T) => string): string {
	return value === null || value === undefined ? UNKNOWN : format(value);
}
