// SPDX-License-Identifier: BSD-3-Clause
// The answers of the API about programs and their runs over time.

export const MEASURES = ['duration', 'io_time', 'throughput', 'calls', 'bytes_read', 'bytes_written'] as const;
export type Measure = typeof MEASURES[number];

export type ProgramVerdict = 'regression' | 'improvement' | 'steady' | 'too few runs' | 'reading' | 'not comparable';

/* The level of a measure is another one from a run on. */
export interface Shift {
	measure: Measure;
	direction: 'worse' | 'better' | 'other';
	verdict: 'exact' | 'significant';
	before: number; /* medians */
	after: number;
	runs_before: number;
	runs_after: number;
	ratio: number | null; /* null: there was nothing before */
	low: number | null;
	high: number | null;
}

export interface ProgramRow {
	name: string;
	runs: number;
	groups: number;
	last_run: string;
	last_started_ns: number;
	last_duration_ns: number;
	last_exit_status: number;
	spark: { measure: Measure; values: (number | null)[]; shift?: number };
	verdict: ProgramVerdict;
	group: string;
	shift?: Shift & { after_run: string; started_ns: number };
}

export interface Programs {
	directory: string;
	covered: number;
	programs: ProgramRow[];
}

export interface ProgramRun extends Record<Measure, number | null> {
	id: string;
	group: string;
	started_ns: number;
	ranks: number;
	exit_status: number;
	state: string;
	comparable: boolean; /* it is complete, and the program succeeded */
	binary: string;
	command: string;
	applied: string;
	tags: string[];
}

/* Runs that can be compared. */
export interface ProgramGroup {
	id: string;
	arguments: string;
	ranks: number;
	filesystem: string;
	platform: string;
	runs: number;
	last_started_ns: number;
	verdict: ProgramVerdict;
}

export interface ProgramEvent {
	before_run: string;
	after_run: string;
	started_ns: number;
	shifts: Shift[];
}

export interface Program {
	name: string;
	total: number;
	covered: number;
	group: string; /* id of a group, or "all" */
	least_runs: number; /* on each side of a shift */
	groups: ProgramGroup[];
	runs: ProgramRun[]; /* in the order of time */
	left_out: number;
	verdict: ProgramVerdict;
	tested: number;
	events: ProgramEvent[]; /* in the order of time */
}

/* A condition of a run that differs from that of another one; null: the run does not have it. */
export interface Condition {
	kind: string;
	name: string;
	before: string | null;
	after: string | null;
}

export interface Changes {
	described: boolean; /* both traces say which program ran, and where */
	conditions: Condition[];
}

export interface Tags {
	tags: string[];
}
