// SPDX-License-Identifier: BSD-3-Clause
// Statistics of a node, grouped into charts that can be understood, and grades of calls.
import type { CourseUnit, Values } from '../charts/course';
import type { Grade, Statistic } from './storage_types';

export interface StatisticGroup {
	title: string;
	about: string;
	unit: CourseUnit;
	series: { name: string; values: Values }[];
}

/* The sum of several statistics; a bin that none of them knows stays unknown. */
export function sumValues(list: readonly Values[]): (number | null)[] {
	return (list[0] ?? []).map((_, bin) => {
		const values = list.map((one) => one[bin] ?? null).filter((value): value is number => value !== null);

		return values.length ? values.reduce((sum, value) => sum + value, 0) : null;
	});
}

/* Rows of GROUPS: a statistic whose name matches a pattern is added to the line of that name. */
const GROUPS: { title: string; about: string; unit: CourseUnit; lines: [string, RegExp][] }[] = [
	{
		title: 'Processors', about: 'Share of the time of all cores.', unit: 'percent',
		lines: [['user', /^cpu\/user$/], ['system', /^cpu\/system$/], ['waiting for I/O', /^cpu\/iowait$/], ['stolen', /^cpu\/steal$/]],
	},
	{
		title: 'Utilization', about: 'The busiest device and interface, and the memory in use.', unit: 'percent',
		lines: [['processors', /^utilization\/cpu$/], ['I/O', /^utilization\/io$/], ['network', /^utilization\/network$/], ['memory', /^utilization\/memory$/]],
	},
	{
		title: 'Block devices', about: 'All block devices together.', unit: 'bytes/s',
		lines: [['read', /^io\/[^/]+\/read$/], ['written', /^io\/[^/]+\/written$/]],
	},
	{
		title: 'Network', about: 'All interfaces together, without the loopback interface.', unit: 'bytes/s',
		lines: [['received', /^network\/(?!lo\/)[^/]+\/received$/], ['sent', /^network\/(?!lo\/)[^/]+\/sent$/]],
	},
	{
		title: 'Memory', about: 'Memory in use, the page cache, and bytes of it that are not written yet.', unit: 'bytes',
		lines: [['used', /^memory\/used$/], ['cached', /^memory\/cached$/], ['dirty', /^memory\/dirty$/], ['being written', /^memory\/writeback$/]],
	},
	{
		title: 'Tasks', about: 'Tasks that run or wait for a core, and those that wait for I/O.', unit: 'count',
		lines: [['runnable', /^cpu\/running$/], ['blocked', /^cpu\/blocked$/], ['load average', /^cpu\/load$/]],
	},
	{
		title: 'Lustre', about: 'What the clients of this node exchanged with Lustre file systems.', unit: 'bytes/s',
		lines: [['read', /^lustre\/[^/]+\/read$/], ['written', /^lustre\/[^/]+\/written$/]],
	},
];

export function groupStatistics(statistics: readonly Statistic[]): StatisticGroup[] {
	return GROUPS.map(({ title, about, unit, lines }) => ({
		title, about, unit,
		series: lines.flatMap(([name, pattern]) => {
			const found = statistics.filter((one) => pattern.test(one.name));

			return found.length ? [{ name, values: sumValues(found.map(({ values }) => values)) }] : [];
		}),
	})).filter(({ series }) => series.length > 0);
}

export const GRADES = ['very_slow', 'slow', 'normal', 'fast', 'very_fast'] as const;
/* The share of usual calls in each grade: they are quantiles (docs/reference/health.md). */
export const USUAL_SHARES = [0.01, 0.09, 0.8, 0.09, 0.01];

export function gradeShares(grade: Grade): number[] {
	const counts = GRADES.map((name) => grade[name] ?? 0), total = counts.reduce((sum, count) => sum + count, 0);

	return counts.map((count) => total > 0 ? count / total : 0);
}

export function gradedCalls(grade: Grade): number {
	return GRADES.reduce((sum, name) => sum + (grade[name] ?? 0), 0);
}
