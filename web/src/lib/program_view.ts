// SPDX-License-Identifier: BSD-3-Clause
// What the page of a program says about its runs.
import { formatBytes, formatCount, formatDate, formatRatio, formatTime, known, plural } from './format';
import { MEASURES, type Condition, type Measure, type Program, type ProgramEvent, type ProgramRow, type ProgramRun, type Shift } from './program_types';
import type { Span } from './span';
import type { Finding, Parameter } from './types';

export interface MeasureText {
	title: string;
	about: string;
	format: (value: number) => string;
}

const formatSpeed = (bytes: number) => `${formatBytes(bytes)}/s`;

export const MEASURE_TEXTS: Record<Measure, MeasureText> = {
	duration: { title: 'Run time', about: 'From the start of the program to its end.', format: formatTime },
	io_time: { title: 'Time in I/O', about: 'Wall-clock time in I/O; of parallel runs, the mean of the ranks.', format: formatTime },
	throughput: { title: 'Throughput', about: 'Bytes read and written by the time in I/O.', format: formatSpeed },
	calls: { title: 'Calls', about: 'I/O calls that the program made.', format: formatCount },
	bytes_read: { title: 'Read', about: 'Bytes that the program read.', format: formatBytes },
	bytes_written: { title: 'Written', about: 'Bytes that the program wrote.', format: formatBytes },
};

/* The part of the runs that a window selects, as positions [from, to). */
export interface RunWindow {
	from: number;
	to: number;
}

/* first and last are ids, as in the address. What is unknown selects nothing. */
export function findWindow(runs: readonly ProgramRun[], first: string | null, last: string | null): RunWindow {
	const from = first === null ? 0 : Math.max(0, runs.findIndex(({ id }) => id === first));
	const at = last === null ? -1 : runs.findIndex(({ id }) => id === last);
	const to = at < 0 ? runs.length : at + 1;

	return from < to ? { from, to } : { from: 0, to: runs.length };
}

/* Runs have this distance in a chart over time, which shows them in their order. */
export const RUN_UNIT = 1000;

export const windowSpan = (shown: RunWindow): Span => ({ from: shown.from * RUN_UNIT, to: shown.to * RUN_UNIT });

/* The runs whose marks are in the span; at least one. */
export function spanWindow(span: Span, count: number): RunWindow {
	const from = Math.min(count - 1, Math.max(0, Math.ceil(span.from / RUN_UNIT - 0.5)));

	return { from, to: Math.min(count, Math.max(from + 1, Math.floor(span.to / RUN_UNIT - 0.5) + 1)) };
}

export const runAt = (position: number, count: number) => Math.min(count - 1, Math.max(0, Math.floor(position / RUN_UNIT)));

/* A stretch of runs whose measure has one level. */
export interface Level {
	from: number;
	to: number; /* exclusive */
	value: number;
}

/* The levels of a measure before and after its shifts. Without a shift there is one, which nobody needs to be told. */
export function findLevels(runs: readonly ProgramRun[], events: readonly ProgramEvent[], measure: Measure): Level[] {
	const levels: Level[] = [];

	for (const event of events) {
		const at = runs.findIndex(({ id }) => id === event.after_run);
		const shift = event.shifts.find((candidate) => candidate.measure === measure);

		if (at < 0 || !shift)
			continue;
		if (!levels.length)
			levels.push({ from: 0, to: at, value: shift.before });
		levels[levels.length - 1].to = at;
		levels.push({ from: at, to: runs.length, value: shift.after });
	}
	return levels;
}

/* Positions of runs whose program was built anew, compared with the run before. */
export function findBuilds(runs: readonly ProgramRun[]): number[] {
	return runs.flatMap((run, i) => i && run.binary && runs[i - 1].binary && run.binary !== runs[i - 1].binary ? [i] : []);
}

/* "15.5 times" or "about 1.97 times, 1.62 to 2.52". */
export function ratioWords(shift: Shift): string {
	if (shift.ratio === null)
		return 'from nothing';
	if (shift.verdict === 'exact' || shift.low === null || shift.high === null)
		return `${formatRatio(shift.ratio)} times`;
	return `about ${formatRatio(shift.ratio)} times, ${formatRatio(shift.low)} to ${formatRatio(shift.high)}`;
}

/* "Calls 162 instead of 10 (16.2 times)" */
export function shiftText(shift: Shift): string {
	const { title, format } = MEASURE_TEXTS[shift.measure];

	return `${title} ${format(shift.after)} instead of ${format(shift.before)} (${ratioWords(shift)})`;
}

/* Worse if anything is worse. */
export function eventDirection(event: ProgramEvent): Shift['direction'] {
	if (event.shifts.some(({ direction }) => direction === 'worse'))
		return 'worse';
	return event.shifts.some(({ direction }) => direction === 'better') ? 'better' : 'other';
}

/* The verdict in a sentence. */
export function verdictSentence(program: Program): string {
	const latest = program.events[program.events.length - 1], tested = plural(program.tested, 'comparable run');

	switch (program.verdict) {
	case 'regression':
	case 'improvement': {
		const wanted = program.verdict === 'regression' ? 'worse' : 'better';
		const event = [...program.events].reverse().find(({ shifts }) => shifts.some(({ direction }) => direction === wanted)) ?? latest;
		const shift = event?.shifts.find(({ direction }) => direction === wanted);

		return shift ? `${program.verdict === 'regression' ? 'Regression' : 'Improvement'} since ${formatDate(event.started_ns)} UTC: ${shiftText(shift)}.` : '';
	}
	case 'steady':
		return program.events.length
			? `The latest runs are neither better nor worse than those before, as far as ${tested} show.`
			: `No change: the differences between ${tested} are within the noise.`;
	case 'too few runs':
		return `Too few runs to find a change: there ${program.tested === 1 ? 'is' : 'are'} ${tested}, and at least ${program.least_runs} before and ${program.least_runs} after are needed.`;
	case 'reading':
		return 'The traces of these runs are being read.';
	default:
		return 'These runs differ in arguments, ranks, file system or machine, so they are not compared. Select a group of comparable runs.';
	}
}

/* What differs between the findings of two runs. */
export function compareFindings(before: readonly Finding[], after: readonly Finding[]): { appeared: Finding[]; vanished: Finding[] } {
	const lacks = (list: readonly Finding[]) => ({ code }: Finding) => !list.some((other) => other.code === code);

	return { appeared: after.filter(lacks(before)), vanished: before.filter(lacks(after)) };
}

/* Parameters that were in effect on files, as conditions that differ. */
export function compareParameters(before: readonly Parameter[], after: readonly Parameter[]): Condition[] {
	const values = (list: readonly Parameter[]) => {
		const found = new Map<string, Set<string>>();

		for (const { name, of, effective } of list)
			found.set(`${of} ${name}`, (found.get(`${of} ${name}`) ?? new Set()).add(known(effective, (text) => text)));
		return new Map([...found].map(([name, set]) => [name, [...set].sort().join(', ')]));
	};
	const old = values(before), now = values(after);

	return [...new Set([...old.keys(), ...now.keys()])].filter((name) => old.get(name) !== now.get(name))
		.map((name) => ({ kind: 'hints in effect', name, before: old.get(name) ?? null, after: now.get(name) ?? null }));
}

/* Those that tell something: a program that only writes needs no chart of what it read. */
export function usedMeasures(runs: readonly ProgramRun[]): Measure[] {
	return MEASURES.filter((measure) => !measure.startsWith('bytes') || runs.some((run) => run[measure] !== 0));
}

/* Regressions first, then improvements; otherwise in the given order. */
export function importantFirst(programs: readonly ProgramRow[]): ProgramRow[] {
	const weight = ({ verdict }: ProgramRow) => verdict === 'regression' ? 2 : verdict === 'improvement' ? 1 : 0;

	return [...programs].sort((a, b) => weight(b) - weight(a));
}

/* The times of an axis: what they have in common is left out. */
export function axisDates(started: readonly number[]): string[] {
	const dates = started.map(formatDate), isOneDay = dates.every((date) => date.slice(0, 10) === dates[0]?.slice(0, 10));

	return dates.map((date) => isOneDay ? date.slice(11) : date.slice(0, 16));
}

/* A build id in little space. */
export function shortBinary(binary: string): string {
	return binary.replace(/^[a-z]+:/, '').slice(0, 8);
}
