// SPDX-License-Identifier: BSD-3-Clause
// The answers of the server's API, version 1. Times are nanoseconds since the start of the run, except started_ns, which
// counts from the epoch.

export interface About {
	version: string;
	user: string;
	is_site: boolean; /* the runs are those of a site's database */
	directory: string;
	pages: string[];
}

export interface RunRow {
	id: string;
	name: string;
	started_ns: number | null;
	duration_ns: number | null;
	exit_status: number | null;
	command: string | null;
	program: string | null;
	host: string | null;
	user: string | null;
	activities: number | null;
	processes: number | null;
	ranks: number | null;
	bytes: number | null;
	complete: boolean;
	state: string;
	applied: string | string[]; /* what Sluice did to the program */
	tags: string[];
	error: string | null;
}

export interface Runs {
	total: number;
	directory: string;
	runs: RunRow[];
}

export interface Gain {
	gain: number;
	low: number;
	high: number;
	source: string | null;
}

export interface Finding {
	code: string;
	title: string;
	severity: string;
	possible: boolean;
	share: number | null;
	evidence: string;
	explanation: string;
	parameter: string | null;
	predicted: Gain | null;
	unpredicted: string | null;
	measured: Gain | null;
	file_count: number;
	files: string[];
	ranks?: number[]; /* of a parallel run */
	samples: string[];
	query: string | null;
	fixes: { kind: string; text: string }[];
}

/* The sums that the server counts for everything that has calls. */
export interface Sums {
	calls: number;
	errors: number;
	bytes_read: number;
	bytes_written: number;
	time_ns: number;
}

export interface Anomaly {
	time_ns: number;
	process: number | null;
	rank: number | null;
	host: string | null;
	source: string;
	name: string;
	value: string;
}

export interface NodeStatistic {
	host: string;
	name: string;
	unit: string;
	mean: number;
	least: number;
	most: number;
}

/* A parameter as it was in effect on a file; who asked for it, if somebody did. */
export interface Parameter {
	name: string;
	of: string;
	file: string;
	requested?: string | null;
	effective: string | null;
	decided_by?: string | null;
	honoured?: string | null;
	why?: string | null;
}

export interface Report {
	id: string;
	verdict: string | string[]; /* lines */
	run: {
		uuid: string;
		command: string;
		host: string;
		user: string;
		started_ns: number;
		duration_ns: number;
		exit_status: number | null;
		processes: number;
		activities: number;
	};
	findings: Finding[];
	io: Sums & { busy_ns: number; share: number | null };
	storage: Sums;
	ranks?: { count: number; hosts: number }; /* of a parallel run */
	layers: { layer: string }[];
	functions: { function: string; layer: string }[];
	files: { file: string }[];
	anomalies: Anomaly[];
	applied: { source: string; name: string; count: number; sum?: number; value?: string }[];
	parameters: Parameter[];
	node?: { statistics: NodeStatistic[] } | null;
	complete: boolean;
	losses: Record<string, unknown>;
}

/* What every answer about a window of a run has. covered is the part of the run that is indexed so far. */
export interface Windowed {
	from_ns: number;
	to_ns: number;
	covered: number;
	folded?: boolean; /* some calls are in no row of their file or rank, because there are too many rows */
}

export interface WindowAnswer extends Windowed {
	totals: Sums;
	bins: {
		count: number;
		bin_ns: number;
		calls: number[];
		bytes_read: number[];
		bytes_written: number[];
		time_ns: number[];
	};
	layers: (Sums & { layer: string })[];
	functions: (Sums & { function: string; layer: string })[];
	files: (Sums & { file: string })[];
	file_count: number;
	members: (Sums & { member: number; name: string | null; host: string | null })[];
	member_count: number;
	sizes: { edges: number[]; reads: number[]; writes: number[] };
}

export interface Heatmap extends Windowed {
	bin_ns: number;
	of: string;
	rows: { first_member: number; last_member: number; name: string | null }[];
	values: number[][];
}

/* start_ns, duration_ns, offset, bytes, way (0 read, 1 write), member */
export type Access = [number, number, number, number, number, number];

export interface Offsets extends Windowed {
	file: string;
	sampled: boolean;
	accesses: Access[];
}

export interface CauseNode extends Sums {
	id: number;
	parent: number;
	function: string;
	layer: string;
	file: string | null;
}

export interface Causes extends Windowed {
	nodes: CauseNode[];
}

export interface ActivityRow {
	key: string;
	function: string;
	layer: string;
	start_ns: number;
	duration_ns: number;
	member: number | null;
	process: number;
	thread: number;
	program: string | null;
	host: string | null;
	file: string | null;
	offset: number | null;
	size: number | null;
	result: number | null;
	error: number;
	error_text: string | null;
}

export interface Activities extends Windowed {
	total: number;
	total_is_low?: boolean; /* there are more */
	activities: ActivityRow[];
}

/* All fields of one activity; numbers that are too large for JavaScript arrive as text. */
export interface Activity {
	key: string;
	name: string;
	layer: string;
	cid_id: number; /* the number of its process */
	cid_pid_nid: string | null; /* the host */
	program: string | null;
	file: string | null;
	time_start: number;
	time_stop: number;
	duration: number;
	error_value: number | string;
	attributes: { name: string; value: unknown }[];
	remote_calls: unknown[];
	parents: unknown[];
	ancestors: ActivityRow[];
	children: ActivityRow[];
	opened_by: ActivityRow | null;
	[field: string]: unknown;
}

export interface Difference {
	verdict: string;
	a: number | null;
	b: number | null;
	ratio: number | null;
	low: number | null;
	high: number | null;
}

export interface ComparedRow {
	name: string;
	layer?: string;
	a_runs: number;
	b_runs: number;
	[metric: string]: unknown;
}

export interface ComparedRun {
	path: string;
	command: string;
	started_ns: number;
	exit_status: number | null;
	complete: boolean;
	ranks: number;
}

export interface Comparison {
	a: ComparedRun[];
	b: ComparedRun[];
	metric: string;
	result: Difference;
	run: ComparedRow[];
	layers: ComparedRow[];
	functions: ComparedRow[];
	files: ComparedRow[];
	ranks: ComparedRow[];
	node: ComparedRow[];
}

export interface Setting {
	name: string;
	value: unknown;
	origin: string;
	default: unknown;
	help: string;
}

/* Sums of a run that a site's database has. */
export interface SiteSum extends Sums {
	layer: string;
	opens: number;
	reads: number;
	writes: number;
	sequential: number;
	small: number;
	first_ns: number;
	last_ns: number;
}

export interface SiteFinding {
	code: string;
	title: string;
	severity: string;
	possible: boolean;
	share: number | null;
	gain: number | null;
	file_count: number;
	file: string | null;
	evidence: string;
}

export interface RunSums {
	run: {
		id: string;
		user: string;
		job: string;
		program: string;
		command: string;
		host: string;
		started_ns: number;
		duration_ns: number;
		exit_status: number;
		processes: number;
		ranks: number;
		activities: number;
		lost: number;
		bytes_read: number;
		bytes_written: number;
		io_share: number | null;
	};
	layers: SiteSum[];
	layer_count: number;
	files: (SiteSum & { file: string | null; filesystem: string | null })[];
	file_count: number;
	members: (SiteSum & { member: number })[];
	member_count: number;
	findings: SiteFinding[];
}

export interface SiteAnomaly {
	node: string;
	subject: string;
	user: string;
	job: string;
	target: string;
	cause: string;
	detail: string;
	started_ns: number;
	ended_ns: number | null; /* null: it lasts */
	value: number;
}

export interface SiteLoad {
	user: string;
	job: string;
	target: string;
	nodes: number;
	bytes_read_per_s: number;
	bytes_written_per_s: number;
	operations_per_s: number;
}

export interface Site {
	anomalies: SiteAnomaly[];
	loads: SiteLoad[];
}
