// SPDX-License-Identifier: BSD-3-Clause
// One storage target over time: durations of test writes, when it was busy, and what was forecast.
import { useMemo } from 'preact/hooks';
import { CourseChart } from '../charts/course_chart';
import type { Course, Values } from '../charts/course';
import { DATE_AXIS } from '../charts/dates';
import { palette } from '../charts/palette';
import { useApi } from '../lib/api';
import { formatBytes, formatDate, formatShare, formatTime, known, plural } from '../lib/format';
import { changeQuery } from '../lib/filter';
import { changePlace } from '../lib/location';
import { periodQuery, usePeriod, withQuery } from '../lib/period';
import type { TargetHistory, Targets } from '../lib/storage_types';
import { useStore } from '../lib/store';
import { forecastBasis, type TargetRow } from '../lib/targets';
import { visible } from '../lib/text';
import { isDark } from '../lib/theme';
import { RangeBar } from '../parts/range_bar';
import { Failure, Loading } from '../parts/states';

const BINS = 240;

interface Props {
	row: TargetRow;
	targets: Targets;
	method: string; /* of the forecast */
	search: string;
}

export function TargetSection({ row, targets, method, search }: Props) {
	const bytes = new URLSearchParams(search).get('bytes');
	const path = withQuery('/targets/history', { target: row.name, system: targets.system, bytes, bins: String(BINS), ...periodQuery(search) });
	const { data, error } = useApi<TargetHistory>(path);

	return (
		<section id="target">
			<h2>{visible(row.name)}</h2>
			{row.forecast && <p class="about">{forecastBasis(row.forecast, method)}</p>}
			{error && <Failure text={error} />}
			{!data && !error && <Loading />}
			{data && <History history={data} search={search} />}
		</section>
	);
}

const bandwidths = (seconds: Values, bytes: number) => seconds.map((value) => value ? bytes / value : null);

function History({ history, search }: { history: TargetHistory; search: string }) {
	const view = usePeriod(history), colors = palette(useStore(isDark));
	const { states } = history, size = formatBytes(history.bytes);
	const base = { from_ns: history.from_ns ?? 0, bin_ns: history.bin_ns };
	const of = new URLSearchParams(search).get('of') === 'bandwidth' ? 'bandwidth' : 'duration';
	const writes = useMemo<Course>(() => ({
		...base, series: [{ name: 'mean', color: colors.series[0], ...of === 'duration' ? { values: history.mean_s, band: { low: history.least_s, high: history.most_s } }
			: { values: bandwidths(history.mean_s, history.bytes), band: { low: bandwidths(history.most_s, history.bytes), high: bandwidths(history.least_s, history.bytes) } } }],
		shades: states ? { values: states.busy, color: colors.series[3] } : undefined,
		marks: history.failed.flatMap((count, bin) => count ? [{ ns: base.from_ns + (bin + 0.5) * base.bin_ns, color: colors.series[3] }] : []),
	}), [history, of, colors]);
	const chances = useMemo<Course | null>(() => states && {
		...base, series: [
			{ name: 'busy by its writes', color: colors.series[3], values: states.busy },
			{ name: 'forecast before', color: colors.series[0], values: states.forecast },
		],
	}, [history, colors]);

	if (!view)
		return null;
	const shared = { ...view, axis: DATE_AXIS, noun: 'history' };
	return (
		<>
			<div class="controls">
				<RangeBar {...view} noun="history" position={(ns) => formatDate(ns)} />
				<div class="filters"><label>Test writes of
					<select value={String(history.bytes)} onChange={(event) => changePlace(changeQuery(search, { bytes: event.currentTarget.value }))}>
						{history.sizes.map((bytes) => <option key={bytes} value={bytes}>{formatBytes(bytes)}</option>)}
					</select>
				</label>
				<label>Show
					<select value={of} onChange={(event) => changePlace(changeQuery(search, { of: event.currentTarget.value === 'duration' ? null : event.currentTarget.value }))}>
						<option value="duration">duration</option><option value="bandwidth">bandwidth</option>
					</select>
				</label></div>
			</div>
			<p class="about">{states
				? `Writes of ${formatBytes(states.bytes)} take ${known(states.idle_s, (s) => formatTime(s * 1e9))} if the target is idle and ${known(states.busy_s, (s) => formatTime(s * 1e9))} if it is busy.`
				: 'Idle and busy are not known: \'sluice forecast train\' learns them from the test writes.'}</p>
			<div class="plots">
				<CourseChart {...shared} title={`${of === 'duration' ? 'Duration' : 'Bandwidth'} of test writes of ${size}`} name={`storage-${history.target}-${of}`} course={writes}
					unit={of === 'duration' ? 'seconds' : 'bytes/s'} isWide
					about={`The line is the mean, the band reaches from the fastest to the slowest write.${states ? ' The background shows when the target was busy.' : ''} Triangles mark writes that failed.`}
					legend={[{ name: of, color: colors.series[0] }, ...states ? [{ name: 'busy', color: `${colors.series[3]}60` }] : []]}
					describe={(bin) => bin < 0 ? [] : [
						`${plural(history.writes[bin], 'write')}${history.failed[bin] ? `, ${history.failed[bin]} failed` : ''}`,
						...typeof states?.busy[bin] === 'number' ? [`busy with a probability of ${formatShare(states.busy[bin], 1)}`] : [],
					]} />
				{chances && states && <CourseChart {...shared} title={`Probability of busy, for writes of ${formatBytes(states.bytes)}`} name={`storage-${history.target}-states`} course={chances} unit="share" isWide height={150}
					about="What the durations of the writes said afterwards, and what the model forecast before, by what was known then. The model may have been trained with these writes." />}
			</div>
		</>
	);
}
