// SPDX-License-Identifier: BSD-3-Clause
// Light or dark: as the system says, unless the reader chose. The rules of the dark theme are in media blocks.
import { createStore } from './store';

export type Theme = 'auto' | 'light' | 'dark';

const KEY = 'sluice.theme';
const system = matchMedia('(prefers-color-scheme: dark)');

function stored(): Theme {
	try {
		const value = localStorage.getItem(KEY);

		return value === 'light' || value === 'dark' ? value : 'auto';
	} catch { /* storage may be forbidden */
		return 'auto';
	}
}

export const theme = createStore<Theme>(stored());
export const isDark = createStore(false);

const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
	.filter((rule): rule is CSSMediaRule => rule instanceof CSSMediaRule && rule.media.mediaText.includes('prefers-color-scheme'));

function apply(): void {
	const choice = theme.get();

	for (const { media } of rules)
		media.mediaText = { auto: system.media, light: 'not all', dark: 'all' }[choice];
	if (choice === 'auto')
		delete document.documentElement.dataset.theme;
	else
		document.documentElement.dataset.theme = choice;
	isDark.set(choice === 'auto' ? system.matches : choice === 'dark');
}

export function setTheme(choice: Theme): void {
	theme.set(choice);
	try {
		localStorage.setItem(KEY, choice);
	} catch { /* the choice holds until the page is closed */ }
	apply();
}

system.addEventListener('change', apply);
apply();
