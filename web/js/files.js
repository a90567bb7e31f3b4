// The traces of a run: one line a file, with its rank, sizes and id.

import * as api from './api.js';
import {fill, h} from './dom.js';
import {asNumber, bytes, clip, count, date} from './format.js';
import {DataTable} from './table.js';

export function filesTab(box, page) {
  const traces = page.info.traces ?? [];
  const get = (key, show, more = {}) => ({key, value: (i) => (more.numeric ? asNumber(traces[i][key]) : traces[i][key]), cell: (td, i) => { td.textContent = show(traces[i][key]); }, ...more});
  const table = new DataTable([
    {key: 'name', label: 'File', header: true, value: (i) => traces[i].name, cell: (td, i) => { td.append(h('bdi', {class: 'name', title: clip(traces[i].name, 500)}, clip(traces[i].name, 160))); }},
    get('rank', String, {label: 'Rank', numeric: true, width: '5rem'}),
    get('events', count, {label: 'Events', numeric: true, width: '7rem'}),
    get('bytes_in', bytes, {label: 'Uploaded', numeric: true, width: '6.5rem'}),
    get('bytes_json', bytes, {label: 'JSON', numeric: true, width: '6.5rem'}),
    get('bytes_stored', bytes, {label: 'Stored', numeric: true, width: '6.5rem'}),
    get('created', date, {label: 'Added', width: '9.5rem'}),
    {key: 'id', label: 'Trace id', width: '17.5rem', value: (i) => traces[i].id, cell: (td, i) => { td.append(h('code', {}, traces[i].id)); }},
    {key: 'has_original', label: 'Original', width: '6.5rem', value: (i) => Number(Boolean(traces[i].has_original)), cell: (td, i) => {
      td.append(traces[i].has_original ? h('a', {href: api.path('traces', traces[i].id, 'original'), download: traces[i].name}, 'download') : 'not kept');
    }},
  ], {caption: 'Traces of the run', sort: {key: 'rank', down: false}, max: 'calc(100vh - 260px)', empty: 'This run has no traces.'});
  table.setRows(traces.map((_, i) => i));
  fill(box, h('section', {class: 'panel'}, table.element));
}
