// SPDX-License-Identifier: BSD-3-Clause
// The time under the pointer: all charts over time mark it.
import { createStore } from './store';

export const cursorTime = createStore<number | null>(null);
