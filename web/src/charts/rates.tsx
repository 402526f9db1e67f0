// SPDX-License-Identifier: BSD-3-Clause
// Bandwidth, or another rate, over time.
import { useMemo } from 'preact/hooks';
import { csv } from '../lib/csv';
import { formatPosition, formatTime } from '../lib/format';
import { useStore } from '../lib/store';
import { isDark } from '../lib/theme';
import type { WindowAnswer } from '../lib/types';
import type { Span } from '../lib/span';
import { Figure } from './figure';
import { Lines } from './lines';
import { palette, READ, WRITE, type Palette } from './palette';
import { binAt, drawSeries, perSecond, valueLabel, type Bins, type Unit } from './series';
import { TimePlot, type TimeView } from './time_plot';

export type Quantity = 'bandwidth' | 'calls' | 'concurrency';

const QUANTITIES: Record<Quantity, { title: string; about: string; unit: Unit }> = {
	bandwidth: { title: 'Bandwidth over time', about: 'Bytes that the selected calls transfer per second.', unit: 'bytes' },
	calls: { title: 'Calls over time', about: 'Selected calls that start per second.', unit: 'count' },
	concurrency: { title: 'Calls in progress over time', about: 'Mean number of selected calls that are in progress at the same time.', unit: 'share' },
};

function makeBins(answer: WindowAnswer, quantity: Quantity, colors: Palette): Bins {
	const { bins } = answer, rate = (values: number[]) => perSecond(values, bins.bin_ns);
	const base = { from_ns: answer.from_ns, bin_ns: bins.bin_ns };

	switch (quantity) {
	case 'bandwidth':
		return { ...base, series: [
			{ name: 'read', color: colors.series[READ], values: rate(bins.bytes_read) },
			{ name: 'written', color: colors.series[WRITE], values: rate(bins.bytes_written) },
		] };
	case 'calls':
		return { ...base, series: [{ name: 'calls', color: colors.series[2], values: rate(bins.calls) }] };
	default:
		return { ...base, series: [{ name: 'calls in progress', color: colors.series[4], values: bins.time_ns.map((ns) => ns / bins.bin_ns) }] };
	}
}

function describeBin(bins: Bins, unit: Unit, ns: number): string[] {
	const index = binAt(bins, ns), start = bins.from_ns + index * bins.bin_ns;

	if (index < 0)
		return [];
	return [
		`${formatPosition(start, bins.bin_ns)}, for ${formatTime(bins.bin_ns)}`,
		...bins.series.map(({ name, values }) => `${name} ${valueLabel(unit, values[index])}`),
	];
}

interface Props extends TimeView {
	answer: WindowAnswer;
	quantity: Quantity;
	run: string; /* the names of saved files start with it */
	height?: number;
	title?: string;
	mark?: Span | null;
}

export function RateChart(props: Props) {
	const { answer, quantity, height = 200, span } = props;
	const dark = useStore(isDark), colors = palette(dark);
	const { title, about, unit } = QUANTITIES[quantity];
	const bins = useMemo(() => makeBins(answer, quantity, colors), [answer, quantity, dark]);

	return (
		<Figure title={props.title ?? title} about={about} isWide legend={bins.series.length > 1 ? bins.series : undefined}
			exports={{
				name: `${props.run}-${quantity}`, height: 300,
				draw: (surface, width, full) => drawSeries(surface, width, full, bins, span, unit, colors),
				csv: () => csv(['start_ns', 'duration_ns', 'calls', 'bytes_read', 'bytes_written', 'time_ns'],
					answer.bins.calls.map((calls, i) => [answer.from_ns + i * answer.bins.bin_ns, answer.bins.bin_ns, calls,
						answer.bins.bytes_read[i], answer.bins.bytes_written[i], answer.bins.time_ns[i]])),
			}}>
			<TimePlot {...props} label={props.title ?? title} height={height} describe={(ns) => describeBin(bins, unit, ns)}>
				{(width) => <Lines width={width} height={height} bins={bins} span={span} unit={unit} />}
			</TimePlot>
		</Figure>
	);
}
