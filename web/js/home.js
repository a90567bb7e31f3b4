// The first page: the runs there are, and the way in for new ones.

import * as api from './api.js';
import {copyButton, debounce, fill, h, say} from './dom.js';
import {asNumber, bytes, clip, count, date, plural} from './format.js';
import {DataTable, parseSort, sortText} from './table.js';
import {mountsPanel} from './mounts.js';
import {fromInput, upload, whenUploaded} from './upload.js';
import {href, push, replace} from './url.js';

export async function home(root, state, signal) {
  const runName = h('input', {type: 'text', id: 'run-name', placeholder: 'from the file, or the folder', autocomplete: 'off', maxlength: '200'});
  const list = h('section', {class: 'panel', 'aria-label': 'Runs'}, h('p', {class: 'loading'}, 'Loading the runs…'));
  const mounted = h('div', {class: 'stacked'});
  fill(root, h('div', {class: 'page'}, h('div', {class: 'home-grid'}, h('div', {class: 'stacked'}, mounted, list), ways(runName))));
  mountsPanel(mounted, signal).catch(() => {}); // the runs are the page; without mounts it is whole
  const load = async () => {
    const runs = await api.runs(signal);
    if (!signal.aborted) runsTable(list, runs, load);
  };
  whenUploaded(() => { if (!signal.aborted) load(); });
  await load();
}

function ways(runName) {
  const files = h('input', {type: 'file', id: 'files', multiple: true, class: 'sr', tabindex: '-1', 'aria-label': 'Trace files'});
  const folder = h('input', {type: 'file', id: 'folder', webkitdirectory: true, class: 'sr', tabindex: '-1', 'aria-label': 'Folder of traces'});
  for (const input of [files, folder]) {
    input.addEventListener('change', () => { upload(fromInput(input), runName.value.trim()); input.value = ''; });
  }
  const curl = () => `curl -T trace.json.gz '${location.origin}/api/v1/traces?name=trace.json.gz${runName.value.trim() ? `&run=${encodeURIComponent(runName.value.trim())}` : ''}'`;
  const line = h('code', {}, curl());
  runName.addEventListener('input', () => { line.textContent = curl(); });
  return h('section', {class: 'panel', 'aria-label': 'Upload'},
    h('div', {class: 'panel-head'}, h('h2', {}, 'Add a run')),
    h('div', {class: 'panel-body stacked'},
      h('div', {class: 'dropzone'}, h('strong', {}, 'Drop traces anywhere on this page'),
        h('span', {class: 'dim'}, '.json, .json.gz, .zip, .tar, .zst: one file a rank'),
        h('div', {class: 'toolbar'}, h('button', {type: 'button', class: 'primary', onclick: () => files.click()}, 'Choose files'),
          h('button', {type: 'button', onclick: () => folder.click()}, 'A folder'))),
      files, folder,
      h('div', {class: 'param'}, h('label', {for: 'run-name'}, 'Name of the run '), runName),
      h('div', {class: 'param'}, h('input', {type: 'checkbox', id: 'forget'}), h('label', {for: 'forget', title: 'In memory, until nobody has asked for it for a while'}, ' Analyse and forget')),
      h('div', {}, h('h3', {}, 'From a shell'), h('div', {class: 'curl'}, line, copyButton('Copy', () => line.textContent)))));
}

const COLUMNS = (reload) => [
  {key: 'name', label: 'Run', header: true, value: (r) => r.name, cell: (td, r) => { td.append(h('a', {href: href({run: r.name}, {}), 'data-nav': true}, h('bdi', {title: clip(r.name, 500)}, clip(r.name, 120) || '(no name)'))); }},
  {key: 'ranks', label: 'Ranks', numeric: true, width: '5rem', value: (r) => asNumber(rankCount(r)), cell: (td, r) => { td.textContent = count(rankCount(r)); }},
  {key: 'events', label: 'Events', numeric: true, width: '7rem', value: (r) => asNumber(r.events), cell: (td, r) => { td.textContent = count(r.events); }},
  {key: 'bytes_in', label: 'Uploaded', numeric: true, width: '6.5rem', value: (r) => asNumber(r.bytes_in), cell: (td, r) => { td.textContent = bytes(r.bytes_in); }},
  {key: 'bytes_stored', label: 'Stored', numeric: true, width: '6.5rem', value: (r) => asNumber(r.bytes_stored), cell: (td, r) => { td.textContent = bytes(r.bytes_stored); }},
  {key: 'updated', label: 'Updated', width: '9.5rem', value: (r) => r.updated, cell: (td, r) => { td.textContent = date(r.updated); }},
  {key: 'delete', label: '', width: '5.4rem', value: () => null, cell: (td, r) => { td.append(h('button', {type: 'button', class: 'quiet', 'aria-label': `Delete ${clip(r.name, 100)}`, onclick: () => confirmDelete(r, reload)}, 'Delete')); }},
];

const rankCount = (r) => (Array.isArray(r.ranks) ? r.ranks.length : r.ranks ?? r.traces);

function runsTable(panel, runs, reload) {
  const state = Object.fromEntries(new URLSearchParams(location.search));
  const search = h('input', {type: 'search', id: 'search', placeholder: 'Search runs  ( / )', 'aria-label': 'Search runs', value: state.q ?? ''});
  const foot = h('div', {class: 'table-foot', role: 'status'});
  const columns = COLUMNS(reload).map((c) => ({...c, value: (i) => c.value(runs[i]), cell: (td, i) => c.cell(td, runs[i])}));
  const table = new DataTable(columns, {
    caption: 'Runs', sort: parseSort(state.sort) ?? {key: 'updated', down: true}, max: 'calc(100vh - 150px)',
    onSort: (s) => push({sort: sortText(s)}),
    empty: runs.length ? 'No run has this name.' : 'No runs yet. Drop a trace of the PyTorch profiler anywhere on this page.',
  });
  const filter = () => {
    const q = search.value.trim().toLowerCase();
    const rows = runs.map((_, i) => i).filter((i) => runs[i].name.toLowerCase().includes(q));
    table.setRows(rows);
    foot.textContent = q ? `${count(rows.length)} of ${plural(runs.length, 'run')}` : plural(runs.length, 'run');
  };
  search.addEventListener('input', debounce(() => { replace({q: search.value.trim()}); filter(); }, 60));
  fill(panel, h('div', {class: 'panel-head'}, h('h2', {}, 'Runs'), h('span', {class: 'end'}, search)), table.element, foot);
  filter();
}

function confirmDelete(run, reload) {
  const dialog = h('dialog', {'aria-label': 'Delete a run'});
  const close = () => { dialog.close(); dialog.remove(); };
  const remove = async (e) => {
    e.currentTarget.disabled = true;
    try {
      await api.removeRun(run.name);
      api.forget();
      close();
      say(`Deleted ${clip(run.name, 60)}.`);
      await reload();
    } catch (problem) {
      dialog.prepend(h('p', {class: 'error-box', role: 'alert'}, problem.message));
    }
  };
  fill(dialog, h('p', {}, 'Delete the run ', h('strong', {}, h('bdi', {}, clip(run.name, 200))), ` with ${plural(run.traces ?? 0, 'trace')} and ${plural(Number(run.events ?? 0), 'event')}? This cannot be undone.`),
    h('div', {class: 'row'}, h('button', {type: 'button', autofocus: true, onclick: close}, 'Keep it'), h('button', {type: 'button', class: 'danger', onclick: remove}, 'Delete')));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
