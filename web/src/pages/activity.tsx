// SPDX-License-Identifier: BSD-3-Clause
// One call: all its fields, what caused it and what it caused.
import type { ComponentChildren } from 'preact';
import { useApi } from '../lib/api';
import { formatMicroseconds, formatSeconds, formatTime } from '../lib/format';
import { usePlace } from '../lib/location';
import { routePath } from '../lib/route';
import { useRunRow } from '../lib/run_view';
import { showValue, visible } from '../lib/text';
import type { Activity } from '../lib/types';
import { Link } from '../parts/link';
import { Failure, Loading } from '../parts/states';
import { Chain } from './chain';
import { RunFrame } from './run_frame';

/* The key of an activity: process and number. */
const KEY = /^\d+\.\d+$/;

/* In the order of the original tool. */
const FIELDS = ['name', 'unique_id', 'ucalid', 'id', 'thread_id', 'cid_pid_nid', 'cid_pid_time', 'cid_id', 'time_start', 'time_stop', 'duration',
	'attributes', 'remote_calls', 'parents', 'error_value', 'layer', 'file'];

export function ActivityPage({ id, activityKey }: { id: string; activityKey: string }) {
	const { search } = usePlace();
	const { data, error } = useApi<Activity>(`/runs/${encodeURIComponent(id)}/activities/${encodeURIComponent(activityKey)}`, { isFixed: true, exact: true });

	return (
		<RunFrame id={id} row={useRunRow(id)} page="activities" search={search}>
			<p class="back"><Link to={routePath({ page: 'activities', id }) + search}>← Activities</Link></p>
			{error && <Failure text={error} />}
			{!data && !error && <Loading />}
			{data && data.key === activityKey && <Details id={id} activity={data} search={search} />}
		</RunFrame>
	);
}

function Details({ id, activity, search }: { id: string; activity: Activity; search: string }) {
	return (
		<>
			<section id="activity">
				<h2><code>{visible(activity.name)}</code> <span class="d">{`at ${formatSeconds(activity.time_start)} s, for ${formatTime(activity.duration)}`}</span></h2>
				<Chain id={id} activity={activity} search={search} />
			</section>
			<section id="fields">
				<h2>Fields</h2>
				<dl class="fields">{FIELDS.map((name) => <Field key={name} {...{ name, id, activity, search }} />)}</dl>
			</section>
			{activity.opened_by && <section id="opened">
				<h2>Opened by</h2>
				<p><Link to={routePath({ page: 'activity', id, key: activity.opened_by.key }) + search}>{visible(activity.opened_by.function)}</Link>
					{` at ${formatSeconds(activity.opened_by.start_ns)} s: the call that created the handle.`}</p>
			</section>}
		</>
	);
}

interface FieldProps {
	name: string;
	id: string;
	activity: Activity;
	search: string;
}

function Field(props: FieldProps) {
	const { name, activity } = props;

	return <div class={Array.isArray(activity[name]) ? 'wide' : ''}><dt>{name}</dt><dd>{fieldValue(props)}</dd></div>;
}

function fieldValue({ name, id, activity, search }: FieldProps) {
	const value = activity[name];

	switch (name) {
	case 'time_start':
	case 'time_stop':
		return typeof value === 'number' ? `${formatSeconds(value)} s` : showValue(value);
	case 'duration':
		return typeof value === 'number' ? `${formatMicroseconds(value)} µs` : showValue(value);
	case 'attributes':
		return <List values={activity.attributes.map((attribute) => visible(`${attribute.name} = `) + showValue(attribute.value))} />;
	case 'remote_calls':
	case 'parents':
		return <List values={activity[name].map((other) => typeof other === 'string' && KEY.test(other)
			? <Link to={routePath({ page: 'activity', id, key: other }) + search}>{other}</Link> : showValue(other))} />;
	default:
		return showValue(value);
	}
}

function List({ values }: { values: readonly ComponentChildren[] }) {
	if (!values.length)
		return <>none</>;
	return <ul>{values.map((value, i) => <li key={i}>{value}</li>)}</ul>;
}
