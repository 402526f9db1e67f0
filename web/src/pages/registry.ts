// SPDX-License-Identifier: BSD-3-Clause
// The pages that the bar at the top lists. A page whose data not every server has is listed only if /api/v1/about names
// it; such a page gets a row here and a case in lib/route.ts and app.tsx.
import type { Route } from '../lib/route';

export interface ListedPage {
	title: string;
	path: string;
	pages: Route['page'][]; /* for which it is marked as the current one */
	needs: string | null; /* name in the list of /api/v1/about; null: every server has it */
}

export const LISTED: readonly ListedPage[] = [
	{ title: 'Runs', path: '/runs', pages: ['runs', 'run', 'window', 'execution', 'activities', 'activity'], needs: null },
	{ title: 'Programs', path: '/programs', pages: ['programs', 'program'], needs: 'programs' },
	{ title: 'Compare', path: '/compare', pages: ['compare'], needs: 'compare' },
	{ title: 'Tunings', path: '/tunings', pages: ['tunings', 'tuning'], needs: 'tunings' },
	{ title: 'Knowledge base', path: '/knowledge', pages: ['knowledge'], needs: 'knowledge' },
	{ title: 'Storage', path: '/storage', pages: ['storage'], needs: 'storage' },
	{ title: 'Node', path: '/node', pages: ['node'], needs: 'node' },
	{ title: 'Model', path: '/model', pages: ['model'], needs: 'model' },
	{ title: 'Site', path: '/site', pages: ['site'], needs: 'site' },
	{ title: 'Settings', path: '/settings', pages: ['settings'], needs: 'settings' },
];
