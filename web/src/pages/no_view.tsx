// SPDX-License-Identifier: BSD-3-Clause
// A run whose length is not known yet, or that has none.
import type { RunView } from '../lib/run_view';
import { Empty, Loading } from '../parts/states';

export function NoView({ run }: { run: RunView }) {
	if (run.overview.isLoading)
		return <Loading />;
	if (!run.overview.data)
		return null;
	return <Empty command="sluice run -- PROGRAM">This run has no recorded calls: it ended at once, or its trace is damaged. This command records another one:</Empty>;
}
