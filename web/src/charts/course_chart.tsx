// SPDX-License-Identifier: BSD-3-Clause
// Values over time, with the range of each value, a colored background and marks.
import type { ComponentChildren } from 'preact';
import { useCallback } from 'preact/hooks';
import { csv } from '../lib/csv';
import { formatDate, formatPosition, formatTime } from '../lib/format';
import type { Span } from '../lib/span';
import { useStore } from '../lib/store';
import { isDark } from '../lib/theme';
import { Canvas } from './canvas';
import { courseLabel, drawCourse, nearestBin, type Course, type CourseUnit } from './course';
import { DATE_AXIS, type TimeAxis } from './dates';
import { Figure, type LegendEntry } from './figure';
import { palette } from './palette';
import type { Surface } from './surface';
import { TimePlot, type TimeView } from './time_plot';

interface Props extends TimeView {
	title: string;
	about?: string;
	name: string; /* of saved files */
	course: Course;
	unit: CourseUnit;
	axis: TimeAxis;
	noun: string;
	height?: number;
	isWide?: boolean;
	legend?: LegendEntry[];
	tools?: ComponentChildren;
	/* Further lines about a bin. */
	describe?: (bin: number, ns: number) => string[];
}

function startOf(course: Course, bin: number): number {
	return course.from_ns + bin * course.bin_ns;
}

function describeBin({ course, unit, axis, describe }: Props, ns: number): string[] {
	const bin = nearestBin(course, ns), start = startOf(course, bin);

	if (bin < 0)
		return describe?.(-1, ns) ?? [];
	return [
		`${axis === DATE_AXIS ? `${formatDate(start)} UTC` : formatPosition(start, course.bin_ns)}, for ${formatTime(course.bin_ns)}`,
		...course.series.flatMap(({ name, values, band }) => {
			const value = values[bin], low = band?.low[bin] ?? null, high = band?.high[bin] ?? null;

			if ((value ?? null) === null)
				return [];
			return [`${name} ${courseLabel(unit, value as number)}${low !== null && high !== null && low < high
				? ` (${courseLabel(unit, low)} to ${courseLabel(unit, high)})` : ''}`];
		}),
		...describe?.(bin, ns) ?? [],
	];
}

function rows(course: Course): (number | null)[][] {
	return course.series[0]?.values.map((_, bin) => [
		startOf(course, bin), course.bin_ns, ...course.series.flatMap(({ values, band }) => [values[bin], ...band ? [band.low[bin], band.high[bin]] : []]),
		...course.shades ? [course.shades.values[bin]] : [],
	]) ?? [];
}

function titles(course: Course): string[] {
	return ['start_ns', 'duration_ns', ...course.series.flatMap(({ name, band }) => [name, ...band ? [`${name} (least)`, `${name} (most)`] : []]),
		...course.shades ? ['busy'] : []];
}

export function CourseChart(props: Props) {
	const { course, span, unit, axis, height = 190 } = props;
	const dark = useStore(isDark), colors = palette(dark);

	return (
		<Figure title={props.title} about={props.about} isWide={props.isWide} tools={props.tools}
			legend={props.legend ?? (course.series.length > 1 ? course.series : undefined)} exports={{
				name: props.name, height: 300,
				draw: (surface, width, full) => drawCourse(surface, width, full, course, span, unit, axis, colors),
				csv: () => csv(titles(course), rows(course)),
			}}>
			<TimePlot {...props} label={props.title} height={height} describe={(ns) => describeBin(props, ns)}>
				{(width) => <CourseCanvas {...{ width, height, course, span, unit, axis, dark }} />}
			</TimePlot>
		</Figure>
	);
}

function CourseCanvas(props: { width: number; height: number; course: Course; span: Span; unit: CourseUnit; axis: TimeAxis; dark: boolean }) {
	const { width, height, course, span, unit, axis, dark } = props;
	const draw = useCallback((surface: Surface) => drawCourse(surface, width, height, course, span, unit, axis, palette(dark)),
		[width, height, course, span.from, span.to, unit, axis, dark]);

	return <Canvas width={width} height={height} draw={draw} />;
}
