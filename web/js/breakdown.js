// Where the GPU time of each rank went: one stacked bar a rank, all on one scale, so that the odd rank stands out.

import * as api from './api.js';
import {stackBar} from './cells.js';
import {fill, h} from './dom.js';
import {asNumber, count, percent, time} from './format.js';
import {legend} from './palette.js';
import {DataTable} from './table.js';

// The parts add up to the whole exactly: compute counts whatever runs beside it, the others only what nothing hides.
const PARTS = [
  ['compute', 'compute', 'compute_us'],
  ['comm', 'communication alone', 'exposed_communication_us'],
  ['memory', 'memory alone', 'exposed_memory_us'],
  ['idle', 'idle', 'idle_us'],
];

export async function ranksPanel(box, page) {
  const {signal, run} = page;
  const [temporal, overview] = await Promise.all([api.analysis(run, 'temporal', {}, signal), api.analysis(run, 'overview', {}, signal)]);
  if (signal.aborted) return;
  const column = (name) => temporal.col(name).map((v) => asNumber(v) || 0);
  const whole = column('kernel_time_us');
  const parts = PARTS.map(([key, label, name]) => ({key, label, values: column(name)}));
  const ranks = temporal.col('rank');
  const hidden = column('communication_us').map((c, i) => c - column('exposed_communication_us')[i]);
  const comm = column('communication_us');
  const text = (i) => parts.map((p) => `${p.label} ${percent((100 * (p.values[i] ?? 0)) / (whole[i] || 1))}`).join(', ');
  const number = (key, label, values, show, title, width = '7rem') => ({key, label, title, numeric: true, width, value: (i) => values[i], cell: (td, i) => { td.textContent = show(values[i]); }});
  const share = (values, of) => values.map((v, i) => (of[i] > 0 ? (100 * v) / of[i] : NaN));
  const table = new DataTable([
    {key: 'rank', label: 'Rank', header: true, numeric: true, width: '4.4rem', value: (i) => asNumber(ranks[i]), cell: (td, i) => { td.textContent = String(ranks[i]); }},
    {key: 'parts', room: 18, label: 'Where the GPU time went', title: 'Of the time from the first to the last device work, times devices', value: (i) => parts[0].values[i] / (whole[i] || 1), cell: (td, i) => {
      td.append(stackBar(parts.map((p) => ({key: p.key, label: p.label, value: p.values[i], text: time(p.values[i])})), whole[i], text(i)));
    }},
    number('span', 'Span', whole, time, 'From the first start to the last end of device work, times devices'),
    number('busy', 'Busy', share(column('busy_us'), whole), percent, 'Time with any device work, of the span', '5.5rem'),
    number('compute', 'Compute', share(parts[0].values, whole), percent, 'Time with a compute kernel, of the span', '6rem'),
    number('comm', 'Comm. alone', share(parts[1].values, whole), percent, 'Communication that no compute kernel hides, of the span', '7.4rem'),
    number('hidden', 'Overlap', share(hidden, comm), percent, 'Part of the communication time that compute hides', '6rem'),
    number('idle', 'Idle', share(parts[3].values, whole), percent, 'Time without any device work, of the span', '5.5rem'),
  ], {caption: 'GPU time per rank', sort: {key: 'rank', down: false}, max: '300px', empty: temporal.notes[0] ?? 'No device work.'});
  table.setRows([...ranks.keys()]);
  fill(box, h('div', {class: 'panel-head'}, h('h2', {}, 'GPU time per rank'), h('span', {class: 'end'}, legend(['compute', 'comm', 'memory', 'idle']))),
    table.element, figures(overview), temporal.n > 0 && temporal.notes.map((n) => h('p', {class: 'note'}, n)));
}

/** What the run holds, over all ranks. */
function figures(overview) {
  const sum = (name) => overview.col(name).reduce((n, v) => n + (asNumber(v) || 0), 0);
  const most = (name) => overview.col(name).reduce((n, v) => Math.max(n, asNumber(v) || 0), 0);
  const facts = [
    ['events', count(sum('events'))], ['kernels', count(sum('kernels'))], ['copies and memsets', count(sum('memory_ops'))], ['CPU operators', count(sum('cpu_ops'))],
    ['GPUs', count(sum('devices'))], ['streams', count(sum('streams'))], ['steps a rank', count(most('steps'))], ['longest trace', time(most('trace_us'))],
  ].filter(([, v]) => v !== '0');
  return h('div', {class: 'panel-body'}, h('dl', {class: 'figures'}, facts.map(([k, v]) => h('div', {}, h('dt', {}, k), h('dd', {}, v)))));
}
