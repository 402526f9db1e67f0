// SPDX-License-Identifier: BSD-3-Clause
// The answers of the API about tunings and the knowledge base.

export type TuningState = 'running' | 'interrupted' | 'finished';
export type Objective = 'io' | 'run' | 'read' | 'write';
export type Phase = 'default' | 'search' | 'drift' | 'simplify' | 'proof' | 'unrecorded' | 'partial';

export interface Gain {
	gain: number | null; /* proven; null: none is */
	gain_low: number | null;
	gain_high: number | null;
	conditions: string | null; /* under which alone it is valid */
}

export interface Study extends Gain {
	id: number;
	program: string;
	ranks: number; /* 0: unknown */
	command: string;
	directory: string | null;
	simulated: boolean;
	objective: Objective | null;
	search: string | null;
	search_runs: number;
	begun_ns: number;
	state: TuningState;
}

export interface StudyRow extends Study {
	runs: number;
	phase: Phase | null;
	compared: string | null;
}

export interface TuningRun {
	number: number;
	phase: Phase;
	state: 'good' | 'failed' | 'crashed' | 'slow' | 'wrong' | 'unseen';
	baseline: boolean;
	cost: number | null; /* of the objective; of the phase unrecorded: the run time */
	run_s: number;
	io_s: number;
	read_bytes: number;
	write_bytes: number;
	foreign: number | null;
	parameters: string;
	values: (number | null)[] | null; /* indices in the space */
	effective: string | null;
	compared: string | null;
	reason: string | null;
	begun_ns: number;
}

export interface TuningStatus {
	state: TuningState;
	process: { host: string | null; pid: number | null };
	can_stop: boolean;
	can_resume: boolean;
	log: string | null;
}

export interface Dimension {
	name: string;
	layer: string;
	help: string;
	ordered: boolean;
	values: (string | null)[];
}

export interface Tuning extends Study, TuningStatus {
	changed_ns: number;
	pairs: number;
	space: Dimension[];
	runs: TuningRun[];
}

export interface ImportancePart {
	name: string;
	share: number;
	best: string | null;
	factor: number;
}

export interface Importance {
	details: ImportancePart[];
	together: number;
	unexplained: number;
}

export interface Contribution {
	kind: 'default' | 'layer' | 'alone' | 'without' | 'full';
	label: string;
	shown: boolean; /* false: another row says the same */
	cost: number | null;
	factor: number | null;
	share: number | null;
	refusal: string | null;
}

export interface Outcome {
	command: string;
	verdict: string;
	complete: boolean;
	default_cost: number | null;
	best: { cost?: number; parameters?: Record<string, string> };
	left_out: Record<string, string>;
	proof: { holds: boolean; before_runs: number; before: number | null; after: number | null; gain: number | null; gain_low: number | null; gain_high: number | null };
	data: string;
	compared: string;
	runs: number;
	points_tried: number;
	points: number;
	states: Record<string, number>;
	noise: number | null;
	drift: number | null;
	partial: Contribution[];
	importance?: Importance;
	entry: number | null;
	apply: string | null;
}

export interface UsedRange {
	runs: number;
	failed: boolean;
	low: number | null;
	high: number | null;
}

export interface Entry {
	id: number;
	program: string;
	fingerprint: string;
	arguments: string;
	platform: string;
	filesystem: string;
	ranks: number;
	size_class: number;
	objective: string;
	before: number | null;
	after: number | null;
	gain: number | null;
	gain_low: number | null;
	gain_high: number | null;
	found_ns: number;
	study: string;
	pinned: boolean;
	compared: string | null;
	demoted_ns: number;
	demoted_why: string;
	conditions: string | null;
	parameters: { name: string; value: string; file?: string; object?: string }[] | null;
	parameter_line: string;
	used: { with: UsedRange; without: UsedRange };
}

export interface Knowledge {
	runs_kept: number;
	entries: Entry[];
}
