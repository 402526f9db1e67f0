// SPDX-License-Identifier: BSD-3-Clause
// A causal chain as a list: the calls that enclose an activity, itself, and the calls below it, as far as they are known.
// If it leads from one process to another, as from a client to its server, each change of the process is named.
import type { Activity, ActivityRow } from './types';

export interface ChainStep {
	row: ActivityRow;
	depth: number;
	isSelf: boolean;
	isOpen: boolean; /* the calls below it are known */
	place: string; /* the process, if the call that led to it was made by another one; else empty */
}

function selfRow(activity: Activity): ActivityRow {
	return {
		key: activity.key, function: activity.name, layer: activity.layer, file: activity.file, start_ns: activity.time_start,
		duration_ns: activity.duration, error: Number(activity.error_value), error_text: null,
		member: null, process: activity.cid_id, thread: 0, program: activity.program, host: activity.cid_pid_nid, offset: null, size: null,
		result: null,
	};
}

function programName(row: ActivityRow): string {
	return row.program?.split('/').pop() || 'unknown program';
}

/* Sets the places. Hosts are named only if they differ. */
function namePlaces(steps: ChainStep[]): void {
	const hosts = new Set(steps.map(({ row }) => row.host)), path: ChainStep[] = [];
	const hasHops = new Set(steps.map(({ row }) => row.process)).size > 1;

	for (const step of steps) {
		const cause = path[step.depth - 1];

		path[step.depth] = step;
		if (hasHops && cause?.row.process !== step.row.process)
			step.place = `${programName(step.row)}, process ${step.row.process}${hosts.size > 1 ? ` on ${step.row.host}` : ''}`;
	}
}

export function chainSteps(activity: Activity, childrenOf: (key: string) => readonly ActivityRow[] | undefined): ChainStep[] {
	const steps: ChainStep[] = activity.ancestors.map((row, depth) => ({ row, depth, isSelf: false, isOpen: true, place: '' }));

	function add(row: ActivityRow, depth: number, isSelf: boolean): void {
		const children = childrenOf(row.key);

		steps.push({ row, depth, isSelf, isOpen: children !== undefined, place: '' });
		children?.forEach((child) => add(child, depth + 1, false));
	}

	add(selfRow(activity), activity.ancestors.length, true);
	namePlaces(steps);
	return steps;
}
