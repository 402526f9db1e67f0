// SPDX-License-Identifier: BSD-3-Clause
// Storage targets with their forecasts, and what is said about them.
import { formatBytes, formatCount, formatShare, known } from './format';
import type { Forecast, Target, TargetForecast, Targets, TargetSize } from './storage_types';
import { visible } from './text';

export interface TargetRow {
	name: string;
	target: Target;
	probe: TargetSize | null; /* the writes of the smallest size */
	forecast: TargetForecast | null; /* for writes of the chosen size */
}

/* The sizes that the forecasts are about, ascending. */
export function forecastSizes(forecast: Forecast | null): number[] {
	return [...new Set(forecast?.forecasts.map(({ bytes }) => bytes))].sort((a, b) => a - b);
}

/* The targets in the order of their names, in which numbers count as such. A model of another system says nothing. */
export function targetRows(targets: Targets, forecast: Forecast | null, bytes: number | null): TargetRow[] {
	const found = forecast?.system === targets.system ? forecast?.forecasts ?? [] : [];

	return targets.targets.map((target) => ({
		name: target.name, target, probe: target.sizes[0] ?? null,
		forecast: found.find((one) => one.target === target.name && one.bytes === bytes) ?? null,
	})).sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
}

const percent = (share: number) => formatShare(share, 1);

/* What a forecast rests on. */
export function forecastBasis(one: TargetForecast | null, method: string): string {
	if (!one)
		return 'There is no model of this target.';
	if (!one.is_model)
		return 'This is the share of its past states: there is no recent probe, or there were too few writes for a model.';
	const model = `The forecast is made by the method ${visible(method)}, which learned from ${formatCount(one.rows)} writes`;
	if (one.accuracy === null)
		return `${model}. Its accuracy was not validated.`;
	return `${model} and was right in ${percent(one.accuracy)} of held-out blocks of time. Always predicting the more frequent state is right in ${known(one.majority, percent)}; `
		+ `no method can be right in more than ${known(one.ceiling, percent)}.`;
}

const NAMED = 5;

/* One sentence about all targets. */
export function targetsVerdict(rows: readonly TargetRow[], forecast: Forecast, bytes: number): string {
	const told = rows.filter(({ forecast: one }) => one && one.state !== 'unknown'), busy = told.filter(({ forecast: one }) => one?.state === 'busy');
	const writes = `for writes of ${formatBytes(bytes)}`, names = busy.slice(0, NAMED).map(({ name }) => visible(name)).join(', ');

	if (!told.length)
		return 'The state of the targets is unknown.';
	if (forecast.is_stale)
		return 'There is no current forecast: the table shows what is typical.';
	if (!busy.length)
		return `${told.length === 1 ? 'The target is' : `All ${told.length} targets are`} forecast to be idle ${writes}.`;
	return `${busy.length} of ${told.length} targets ${busy.length === 1 ? 'is' : 'are'} forecast to be busy ${writes}: ${names}${busy.length > NAMED ? ', …' : ''}.`;
}
