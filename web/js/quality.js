// What was wrong with the traces, so that nobody trusts an answer more than its data.

import * as api from './api.js';
import {columnOf} from './cells.js';
import {fill, h} from './dom.js';
import {plural} from './format.js';
import {DataTable} from './table.js';

const ORDER = {error: 0, warn: 1, info: 2};
const SIGN = {error: '✖', warn: '▲', info: 'ℹ'};
const WORD = {error: 'error', warn: 'warning', info: 'information'};

export async function qualityBanner(box, page) {
  const result = await api.analysis(page.run, 'quality', {}, page.signal);
  const severity = result.col('severity');
  const kind = result.col('kind');
  const rows = [...Array(result.n).keys()].sort((a, b) => (ORDER[severity[a]] ?? 3) - (ORDER[severity[b]] ?? 3) || String(kind[a]).localeCompare(kind[b]) || a - b);
  if (!rows.length) return;
  const worst = severity[rows[0]] in ORDER ? severity[rows[0]] : 'info';
  const kinds = (s) => new Set(rows.filter((i) => severity[i] === s).map((i) => kind[i])).size;
  const parts = Object.keys(ORDER).filter((s) => kinds(s)).map((s) => `${SIGN[s]} ${plural(kinds(s), `kind of ${s === 'info' ? 'information' : WORD[s]}`, `kinds of ${s === 'info' ? 'information' : WORD[s]}`)}`);
  const columns = result.specs.map((spec) => columnOf(spec, result.data[spec.name], OVERRIDE(result)[spec.name]));
  const table = new DataTable(columns, {caption: 'Data quality', max: '300px'});
  table.setRows(rows);
  fill(box, h('details', {class: `quality ${worst}`},
    h('summary', {}, `Data quality: ${parts.join(', ')}`),
    h('div', {class: 'panel-body'}, table.element)));
}

const OVERRIDE = (result) => ({
  severity: {width: '7.5rem', value: (i) => ORDER[result.col('severity')[i]] ?? 3, cell: (td, i) => {
    const s = result.col('severity')[i];
    td.append(h('span', {class: `severity ${s}`}, h('span', {'aria-hidden': 'true'}, SIGN[s] ?? ''), WORD[s] ?? s));
  }},
  kind: {width: '13rem'},
  name: {width: '13rem'},
  trace: {width: '14rem'},
});
