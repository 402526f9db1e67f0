// SPDX-License-Identifier: BSD-3-Clause
// The answers of the API about storage targets, nodes and models. Times of targets and nodes count from 1970 in
// nanoseconds; durations of writes are in seconds.

type Values = (number | null)[];

export interface ProbeSystem {
	name: string;
	modelled: boolean; /* generated, not probed */
	targets: number;
	samples: number;
	first_ns: number;
	last_ns: number;
}

/* What all answers about probe data have. */
export interface ProbeView {
	problem: string | null; /* why there is no data, and what to do */
	system: string | null;
	modelled: boolean;
	systems: ProbeSystem[];
	now_ns: number;
	first_ns: number | null;
	last_ns: number | null;
	from_ns: number | null;
	to_ns: number | null;
}

export interface TargetSize {
	bytes: number;
	writes: number;
	failed: number;
	newest: { time_ns: number; seconds: number; outcome: string; method: string } | null;
	trend: Values;
}

export interface Target {
	name: string;
	sizes: TargetSize[];
}

export interface Targets extends ProbeView {
	target_count: number;
	targets: Target[];
}

export interface TargetHistory extends ProbeView {
	target: string;
	sizes: number[];
	bytes: number;
	bin_ns: number;
	writes: number[];
	failed: number[];
	least_s: Values;
	mean_s: Values;
	most_s: Values;
	states: { bytes: number; idle_s: number | null; busy_s: number | null; busy: Values; forecast: Values } | null;
}

export interface TargetForecast {
	target: string;
	bytes: number;
	state: 'idle' | 'busy' | 'unknown';
	busy: number | null;
	expected_s: number | null;
	idle_s: number | null;
	busy_s: number | null;
	is_model: boolean;
	rows: number;
	accuracy: number | null;
	majority: number | null;
	ceiling: number | null;
	is_useful: boolean;
	age_s: number | null;
}

export interface Forecast {
	problem?: string;
	system?: string;
	modelled?: boolean;
	time?: number;
	is_stale?: boolean;
	warning?: string | null;
	caution?: string | null;
	model?: { method: string; made: number; from: number | null; to: number | null; horizon_s: number };
	forecasts: TargetForecast[];
}

export interface JobLoad {
	user: string;
	job: string;
	bytes_read: number;
	bytes_written: number;
	operations: number;
	byte_share: number;
	operation_share: number;
}

export interface QueuedJob {
	job: string;
	name: string;
	owner: string;
	queue: string;
	nodes: number | null;
	memory_bytes: number | null;
	used_s: number | null;
	allocated_s: number | null;
}

export interface Load {
	jobs_ns: number | null;
	job_count: number;
	jobs: QueuedJob[];
	loads: JobLoad[];
	has_site: boolean;
	loads_problem: string | null;
}

export interface Statistic {
	name: string;
	unit: string;
	is_rate: boolean; /* values are per second */
	mean: number | null;
	least: number | null;
	most: number | null;
	total: number | null;
	values: Values;
}

export interface RunAnomaly {
	time_ns: number;
	process: number;
	host: string;
	source: string;
	name: string;
	value: string;
}

/* How many calls were slower or faster than usual. */
export interface Grade {
	host: string;
	call: string;
	very_slow: number | null;
	slow: number | null;
	normal: number | null;
	fast: number | null;
	very_fast: number | null;
	from_bytes: number | null;
	median_ns: number | null;
	very_slow_ns: number | null;
}

export interface Statistics {
	first_ns: number;
	last_ns: number;
	from_ns: number;
	to_ns: number;
	bin_ns: number;
	host: string;
	hosts: string[];
	statistics: Statistic[];
	anomalies: RunAnomaly[];
	anomaly_count: number;
	grades: Grade[];
}

export interface UsualDuration {
	layer: string;
	call: string;
	from_bytes: number;
	calls: number;
	low_ns: number;
	median_ns: number;
	high_ns: number;
	extreme_ns: number;
}

export interface SiteAnomaly {
	node: string;
	subject: string;
	target: string;
	job: string;
	started_ns: number;
	cause: string;
	detail: string;
	value: number;
}

export interface NodeAnswer extends ProbeView {
	host: string;
	bin_ns: number;
	samples: number;
	values: { name: string; title: string; unit: 'tasks' | 'share' | 'bytes'; values: Values }[];
	expected: UsualDuration[];
	expected_count: number;
	expected_problem: string | null;
	anomalies: SiteAnomaly[];
	has_site: boolean;
	site_problem: string | null;
}

export interface ListedModel {
	name: string;
	is_default: boolean;
	bytes: number;
	error: string | null;
	/* The following is missing if there is an error. */
	machine?: string;
	title?: string;
	modelled?: boolean;
	made_ns?: number;
	measured_ns?: number;
	is_calibrated?: boolean;
	doubts?: string[];
}

export interface Models {
	directory: string;
	models: ListedModel[];
	platforms: { name: string; rows: number }[];
}

/* predicted and measured seconds, group, operation */
export type Pair = [number, number, string, string];

export interface OperationCost {
	operation: string;
	rows: number;
	cells: number;
	learner: string | null;
	rmse: number | null;
	r2: number | null;
	median_error: number | null;
	noise: number | null;
}

export interface ModelAnswer {
	name: string;
	title: string;
	machine: string;
	modelled: boolean;
	made_ns: number;
	measured_ns: number;
	is_calibrated: boolean;
	doubts: string[];
	claim: string;
	cores: number;
	operations: OperationCost[];
	calibration: {
		cases: number;
		held_out: number;
		repeat: number;
		host: string;
		library: string;
		coverage: number;
		measured_coverage: number | null;
		is_supported: boolean;
		factor: number | null;
	} | null;
	scores: { group: string; count: number; median_error: number | null; bias: number | null }[];
	pairs: Pair[];
	pair_count: number;
}

export interface Recommendation {
	text: string;
	modelled: boolean;
	keep: boolean;
	verdict: string[];
	settings: Record<string, string>;
	gain: number;
	calibrated: boolean;
	coverage: number | null;
	measured_coverage: number | null;
	doubts: string[];
	predicted: number;
	predicted_now: number;
	now_low: number | null;
	now_high: number | null;
	outside: boolean;
	unknown: string;
	candidates: number;
	best: { predicted: number; low: number | null; high: number | null; settings: Record<string, string> }[];
}
