// SPDX-License-Identifier: BSD-3-Clause
import { render } from 'preact';
import { App } from './app';
import 'uplot/dist/uPlot.min.css';
import './style/look.css';
import './style/base.css';
import './style/shell.css';
import './style/parts.css';
import './style/charts.css';
import './style/storage.css';
import './style/tuning.css';

const root = document.getElementById('app');

if (root)
	render(<App />, root);
