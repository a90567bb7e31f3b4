// Runs in mounted folders: the list of them, and the question that comes before one is opened.

import * as api from './api.js';
import {fill, h, say} from './dom.js';
import {bytes, clip, count, date} from './format.js';
import {href} from './url.js';

const STATES = {not_cached: 'not cached', cached: 'cached', stale: 'stale: the folder has changed', in_memory: 'in memory'};

const LOOK_AGAIN_MS = 5000;

/** The mounted runs as a panel of the first page, kept up to date while that is seen; nothing where nothing is mounted. */
export async function mountsPanel(box, signal) {
  let shown = '[]';
  const load = async () => {
    const {mounts} = await api.mounts(signal); // its ETag makes this cheap: mostly nothing has changed
    const text = JSON.stringify(mounts);
    if (signal.aborted || text === shown) return;
    shown = text;
    draw(box, mounts, load);
  };
  await load();
  if (shown === '[]') return; // what is mounted stands in the server's configuration
  const timer = setInterval(() => { if (!document.hidden) load().catch(() => {}); }, LOOK_AGAIN_MS);
  signal.addEventListener('abort', () => clearInterval(timer));
}

function draw(box, mounts, reload) {
  fill(box, h('section', {class: 'panel', 'aria-label': 'Mounted folders'}, h('div', {class: 'panel-head'}, h('h2', {}, 'Mounted folders')),
    mounts.map((m) => h('div', {class: 'panel-body'}, h('h3', {}, clip(m.mount, 100)),
      m.error ? h('p', {class: 'error-box'}, m.error) : null,
      m.runs.length ? h('div', {class: 'few', tabindex: '0', role: 'region', 'aria-label': `Runs of ${clip(m.mount, 100)}`}, table(m.runs, reload)) : h('p', {class: 'dim'}, 'No traces here yet.'),
      m.cut ? h('p', {class: 'dim'}, 'There are more files than are listed.') : null))));
}

function table(runs, reload) {
  const row = (r) => h('tr', {},
    h('th', {scope: 'row'}, h('a', {href: href({run: r.run}, {}), 'data-nav': true}, h('bdi', {}, clip(r.run, 120)))),
    h('td', {class: 'num'}, count(r.files)), h('td', {class: 'num'}, bytes(r.bytes)), h('td', {}, date(r.modified)),
    h('td', {}, h('span', {class: `state ${r.state}`}, STATES[r.state] ?? r.state), ' ', r.state === 'stale' ? refreshButton(r.run, reload) : null));
  return h('table', {class: 'plain'}, h('thead', {}, h('tr', {}, ['Run', 'Files', 'Size', 'Modified', 'State'].map((t) => h('th', {scope: 'col'}, t)))),
    h('tbody', {}, runs.map(row)));
}

/** Keeps a run of a folder anew that has changed since. */
export function refreshButton(run, reload) {
  const click = async (e) => {
    const button = e.currentTarget;
    button.disabled = true;
    try {
      await api.refreshRun(run);
      api.forget();
      say(`${clip(run, 60)} is up to date.`);
    } catch (problem) {
      say(problem.message);
    }
    button.disabled = false; // where nothing has changed, it stays
    await reload();
  };
  return h('button', {type: 'button', onclick: click}, 'Refresh');
}

/** Asks what to do with a run that is mounted and not kept. Resolves to 'true', 'false', or null for neither. */
export function askCache(problem, run) {
  const {details} = problem;
  const room = details.free_bytes === null || details.free_bytes === undefined ? '' : `, ${bytes(details.free_bytes)} are free`;
  return new Promise((resolve) => {
    const dialog = h('dialog', {'aria-label': 'Keep this run?'});
    const answer = (value) => { dialog.close(); dialog.remove(); resolve(value); };
    dialog.append(h('h2', {}, 'Keep this run?'),
      h('p', {}, h('bdi', {}, clip(run, 200)), ` is in a mounted folder, ${bytes(details.bytes)} of traces, and the store does not have it.`),
      h('p', {class: 'dim'}, `Keeping it takes about ${bytes(details.stored_bytes_estimate)}${room}. Without, it is analysed in memory and forgotten after a while.`),
      h('div', {class: 'toolbar'}, h('button', {type: 'button', class: 'primary', onclick: () => answer('true')}, 'Keep it'),
        h('button', {type: 'button', onclick: () => answer('false')}, 'Analyse and forget'),
        h('button', {type: 'button', class: 'quiet', onclick: () => answer(null)}, 'Cancel')));
    dialog.addEventListener('cancel', (e) => { e.preventDefault(); answer(null); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** A run's traces; where it is mounted and not kept, the choice is made first. null: the reader does not want it. */
export async function openRun(run, signal, waiting) {
  try {
    return await api.run(run, signal);
  } catch (problem) {
    if (problem.status !== 428) throw problem;
    const choice = await askCache(problem, run);
    if (!choice || signal.aborted) return null;
    waiting();
    return api.run(run, signal, choice);
  }
}
