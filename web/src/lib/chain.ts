// SPDX-License-Identifier: BSD-3-Clause
// A causal chain as a list: the calls that enclose an activity, itself, and the calls below it, as far as they are known.
import type { Activity, ActivityRow } from './types';

export interface ChainStep {
	row: ActivityRow;
	depth: number;
	isSelf: boolean;
	isOpen: boolean; /* the calls below it are known */
}

function selfRow(activity: Activity): ActivityRow {
	return {
		key: activity.key, function: activity.name, layer: activity.layer, file: activity.file, start_ns: activity.time_start,
		duration_ns: activity.duration, error: Number(activity.error_value), error_text: null,
		member: null, process: 0, thread: 0, offset: null, size: null, result: null,
	};
}

export function chainSteps(activity: Activity, childrenOf: (key: string) => readonly ActivityRow[] | undefined): ChainStep[] {
	const steps: ChainStep[] = activity.ancestors.map((row, depth) => ({ row, depth, isSelf: false, isOpen: true }));

	function add(row: ActivityRow, depth: number, isSelf: boolean): void {
		const children = childrenOf(row.key);

		steps.push({ row, depth, isSelf, isOpen: children !== undefined });
		children?.forEach((child) => add(child, depth + 1, false));
	}

	add(selfRow(activity), activity.ancestors.length, true);
	return steps;
}
