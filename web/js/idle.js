// Idle time by cause: a stacked bar for each stream, and the longest gaps, each a link to its place on the timeline.

import * as api from './api.js';
import {columnOf, nameCell, stackBar} from './cells.js';
import {fill, h} from './dom.js';
import {asNumber, count, percent, time, title, usText} from './format.js';
import {rankSelect, windowChip, windowParams} from './filters.js';
import {guard} from './guard.js';
import {causeKey, classChip, keyLabel, legend} from './palette.js';
import {DataTable, parseSort, sortText} from './table.js';
import {go, href, replace} from './url.js';

const CAUSES = ['host', 'wait', 'gap'];
const LONGEST = 500; // gaps of each rank

export async function idleTab(box, page) {
  const streams = h('section', {class: 'panel'}, h('p', {class: 'loading'}, 'Loading…'));
  const gaps = h('section', {class: 'panel'}, h('p', {class: 'loading'}, 'Looking for the longest gaps…'));
  fill(box, streams, gaps);
  await Promise.all([
    guard(streams, page.signal, () => streamsPanel(streams, page)),
    guard(gaps, page.signal, () => gapsPanel(gaps, page)),
  ]);
}

/** The rows of `idle` (one a cause) as one object a stream. */
function byStream(result) {
  const out = new Map();
  for (let i = 0; i < result.n; i++) {
    const [rank, device, stream] = ['rank', 'device', 'stream'].map((c) => result.col(c)[i]);
    const id = `${rank}~${device}~${stream}`;
    if (!out.has(id)) out.set(id, {rank, device, stream, total: 0, gaps: 0, host: 0, wait: 0, gap: 0});
    const row = out.get(id);
    const us = asNumber(result.col('idle_us')[i]) || 0;
    row[causeKey(result.col('cause')[i])] += us;
    row.total += us;
    row.gaps += asNumber(result.col('gaps')[i]) || 0;
  }
  return [...out.values()];
}

async function streamsPanel(box, page) {
  const result = await api.analysis(page.run, 'idle', {rank: page.state.rank, ...windowParams(page)}, page.signal);
  if (page.signal.aborted) return;
  const rows = byStream(result);
  const most = Math.max(0, ...rows.map((r) => r.total));
  const number = (key, label, width, show, value, title) => ({key, label, title, width, numeric: true, value: (i) => asNumber(value(rows[i])), cell: (td, i) => { td.textContent = show(value(rows[i])); }});
  const table = new DataTable([
    number('rank', 'Rank', '5rem', String, (r) => r.rank),
    number('device', 'GPU', '5rem', String, (r) => r.device),
    number('stream', 'Stream', '5.4rem', String, (r) => r.stream),
    {key: 'bar', room: 18, label: 'Idle by cause', title: 'All bars on one scale: the longest is the stream that was idle longest', value: (i) => rows[i].total, cell: (td, i) => {
      const r = rows[i];
      const text = CAUSES.map((c) => `${keyLabel(c)} ${time(r[c])}`).join(', ');
      td.append(stackBar(CAUSES.map((c) => ({key: c, label: keyLabel(c), value: r[c], text: time(r[c])})), most, text));
    }},
    number('total', 'Idle', '7rem', time, (r) => r.total),
    ...CAUSES.map((c) => number(c, title(keyLabel(c)), '7.4rem', (v) => percent(v), (r) => (r.total ? (100 * r[c]) / r.total : NaN), 'Of the idle time of the stream')),
    number('gaps', 'Gaps', '6rem', count, (r) => r.gaps),
  ], {caption: 'Idle time by stream and cause', sort: {key: 'total', down: true}, max: '45vh', empty: result.notes[0] ?? 'No stream was idle.'});
  table.setRows([...rows.keys()]);
  fill(box, h('div', {class: 'panel-head'}, h('h2', {}, 'Idle time by cause'), rankSelect(page, 'Rank', () => go({})), windowChip(page), h('span', {class: 'end'}, legend(CAUSES))), table.element, result.n > 0 && result.notes.map((n) => h('p', {class: 'note'}, n)));
}

async function gapsPanel(box, page) {
  const result = await api.analysis(page.run, 'idle-intervals', {list: 'true', longest: LONGEST, rank: page.state.rank, ...windowParams(page)}, page.signal);
  if (page.signal.aborted) return;
  const start = result.col('start_us');
  const dur = result.col('idle_us');
  const shorts = result.col('short_name');
  const override = {
    cause: {width: '8.5rem', cell: (td, i) => { td.append(classChip(keyLabel(causeKey(result.col('cause')[i])))); }},
    kernel: {label: 'Work that ended it', cell: (td, i) => nameCell(td, result.col('kernel')[i], shorts[i])},
    start_us: {width: '8.5rem', unit: 'µs', cell: (td, i) => {
      const from = asNumber(start[i]);
      const d = asNumber(dur[i]) || 1;
      const lane = `${result.col('rank')[i]}/gpu/${result.col('device')[i]}/${result.col('stream')[i]}`;
      td.append(h('a', {href: href({run: page.run, tab: 'timeline', from: usText(from - 2 * d), to: usText(from + 3 * d), sel: `${lane}@${usText(from)}`}, {}), 'data-nav': true, title: 'Show it on the timeline'}, usText(from)));
    }},
  };
  const columns = result.specs.filter((x) => !['short_name', 'end_us'].includes(x.name)).map((s) => columnOf(s, result.data[s.name], override[s.name]));
  const table = new DataTable(columns, {caption: 'Idle intervals', max: '60vh', sort: parseSort(page.state.sort) ?? {key: 'idle_us', down: true}, onSort: (s) => replace({sort: sortText(s)}), empty: result.notes[0] ?? 'There are no gaps.'});
  table.setRows([...Array(result.n).keys()]);
  fill(box, h('div', {class: 'panel-head'}, h('h2', {}, 'Longest gaps'), h('span', {class: 'dim'}, `at most ${LONGEST} of each rank; the start leads to the timeline`)), table.element, result.notes.map((n) => h('p', {class: 'note'}, n)));
}
