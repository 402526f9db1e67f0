// SPDX-License-Identifier: BSD-3-Clause
// The frame of all pages, and which page an address shows.
import { useEffect, useRef } from 'preact/hooks';
import { useApi } from './lib/api';
import { usePlace } from './lib/location';
import { pending } from './lib/progress';
import { parseRoute, type Route } from './lib/route';
import { useStore } from './lib/store';
import { visible } from './lib/text';
import { isDark, setTheme } from './lib/theme';
import type { About } from './lib/types';
import { ActivitiesPage } from './pages/activities';
import { ActivityPage } from './pages/activity';
import { ComparePage } from './pages/compare';
import { ExecutionPage } from './pages/execution';
import { KnowledgePage } from './pages/knowledge';
import { ModelPage } from './pages/model';
import { NodePage } from './pages/node';
import { ProgramPage } from './pages/program';
import { ProgramsPage } from './pages/programs';
import { LISTED } from './pages/registry';
import { RunPage } from './pages/run';
import { RunsPage } from './pages/runs';
import { SettingsPage } from './pages/settings';
import { StoragePage } from './pages/storage';
import { SitePage } from './pages/site';
import { SiteRunPage } from './pages/site_run';
import { TuningPage } from './pages/tuning';
import { TuningsPage } from './pages/tunings';
import { WindowPage } from './pages/window';
import { Boundary } from './parts/boundary';
import { Link } from './parts/link';
import { Empty, Loading, Progress } from './parts/states';

function Page({ route, about }: { route: Route; about: About | null }) {
	switch (route.page) {
	case 'runs':
		return <RunsPage about={about} />;
	case 'run':
		if (!about)
			return <Loading />;
		if (about.is_site)
			return <SiteRunPage key={route.id} id={route.id} />;
		return <RunPage key={route.id} id={route.id} />;
	case 'window':
		return <WindowPage key={route.id} id={route.id} />;
	case 'execution':
		return <ExecutionPage key={route.id} id={route.id} />;
	case 'activities':
		return <ActivitiesPage key={route.id} id={route.id} />;
	case 'activity':
		return <ActivityPage key={route.id} id={route.id} activityKey={route.key} />;
	case 'compare':
		return <ComparePage />;
	case 'storage':
		return <StoragePage />;
	case 'node':
		return <NodePage />;
	case 'model':
		return <ModelPage />;
	case 'site':
		return <SitePage />;
	case 'programs':
		return <ProgramsPage />;
	case 'program':
		return <ProgramPage key={route.name} name={route.name} />;
	case 'tunings':
		return <TuningsPage />;
	case 'tuning':
		return <TuningPage key={route.id} id={route.id} />;
	case 'knowledge':
		return <KnowledgePage />;
	case 'settings':
		return <SettingsPage about={about} />;
	default:
		return <><h1 class="page-title">Page not found</h1><Empty>There is no page {visible(route.path)}. <Link to="/runs">All runs</Link></Empty></>;
	}
}

export function App() {
	const { path } = usePlace();
	const route = parseRoute(path);
	const about = useApi<About>('/about').data;
	const dark = useStore(isDark), isBusy = useStore(pending) > 0;
	const main = useRef<HTMLElement>(null), shownPath = useRef(path);

	/* A reader who uses the keyboard or a screen reader continues at the new page. */
	useEffect(() => {
		if (shownPath.current !== path)
			main.current?.focus({ preventScroll: true });
		shownPath.current = path;
	}, [path]);
	return (
		<>
			<a class="skip" href="#main" onClick={(event) => {
				event.preventDefault();
				main.current?.focus();
			}}>Skip to the content</a>
			<Progress />
			<div class="page">
				<header class="bar-top">
					<Link to="/runs" class="brand">sluice</Link>
					<nav aria-label="Pages">{LISTED.filter(({ needs }) => needs === null || about?.pages.includes(needs)).map((listed) => (
						<Link key={listed.path} to={listed.path} isCurrent={listed.pages.includes(route.page)}>{listed.title}</Link>
					))}</nav>
					<button type="button" onClick={() => setTheme(dark ? 'light' : 'dark')}>{dark ? 'Light theme' : 'Dark theme'}</button>
				</header>
				<main id="main" ref={main} tabIndex={-1} aria-busy={isBusy}><Boundary key={path}><Page route={route} about={about} /></Boundary></main>
			</div>
		</>
	);
}
