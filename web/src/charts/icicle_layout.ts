// SPDX-License-Identifier: BSD-3-Clause
// Where the boxes of an icicle are: a call's box is below that of the call that caused it, as wide as its time.
import type { CauseNode } from '../lib/types';

/*
 * Calls of one function on several files become one node, with the first of their ids: a box per file would be too
 * narrow to read.
 */
export function mergeFiles(nodes: readonly CauseNode[]): CauseNode[] {
	const merged = new Map<string, CauseNode>(), ids = new Map<number, number>();

	for (const node of nodes) {
		const parent = ids.get(node.parent) ?? 0, key = `${parent} ${node.layer} ${node.function}`;
		const known = merged.get(key);

		ids.set(node.id, known?.id ?? node.id);
		if (!known) {
			merged.set(key, { ...node, parent });
			continue;
		}
		for (const sum of ['calls', 'errors', 'bytes_read', 'bytes_written', 'time_ns'] as const)
			known[sum] += node[sum];
		known.file = known.file === node.file ? known.file : null;
	}
	return [...merged.values()];
}

export interface Box {
	node: CauseNode;
	depth: number;
	left: number; /* share of the width, 0 to 1 */
	width: number;
	parent: Box | null;
	children: Box[];
}

interface Branch {
	node: CauseNode;
	children: Branch[];
	weight: number; /* at least the sum of the children, which may overlap */
}

function buildBranches(nodes: readonly CauseNode[]): Branch[] {
	const branches = new Map<number, Branch>(), roots: Branch[] = [];

	for (const node of nodes) {
		const branch = { node, children: [], weight: node.time_ns }, parent = branches.get(node.parent);

		branches.set(node.id, branch);
		(parent ? parent.children : roots).push(branch);
	}
	for (const branch of [...branches.values()].reverse())
		branch.weight = Math.max(branch.weight, branch.children.reduce((sum, child) => sum + child.weight, 0));
	return roots;
}

/* The boxes in drawing order: a parent precedes its children, and the slowest child is at the left. */
export function layoutIcicle(nodes: readonly CauseNode[], root: number | null): Box[] {
	const boxes: Box[] = [];

	function place(branches: Branch[], depth: number, left: number, scale: number, parent: Box | null): void {
		let x = left;

		for (const branch of [...branches].sort((a, b) => b.weight - a.weight)) {
			const box: Box = { node: branch.node, depth, left: x, width: branch.weight * scale, parent, children: [] };

			boxes.push(box);
			parent?.children.push(box);
			place(branch.children, depth + 1, x, scale, box);
			x += box.width;
		}
	}

	let roots = buildBranches(nodes);
	if (root !== null) {
		const found = findBranch(roots, root);

		roots = found ? [found] : roots;
	}
	const total = roots.reduce((sum, branch) => sum + branch.weight, 0);
	if (total > 0)
		place(roots, 0, 0, 1 / total, null);
	return boxes;
}

function findBranch(branches: readonly Branch[], id: number): Branch | null {
	for (const branch of branches) {
		const found = branch.node.id === id ? branch : findBranch(branch.children, id);

		if (found)
			return found;
	}
	return null;
}

/* The functions from the outermost call to this one. */
export function boxPath(box: Box): string[] {
	const names = [];

	for (let at: Box | null = box; at; at = at.parent)
		names.unshift(at.node.function);
	return names;
}
