// Uploads: a drop anywhere on the page, a file or folder picker, two at a time, progress and the server's own sentence
// for each file. XMLHttpRequest because fetch cannot tell how much has been sent.

import {forget, path, problemOf, query} from './api.js';
import {fill, h, say} from './dom.js';
import {bytes, clip, plural} from './format.js';
import {go, href} from './url.js';

const AT_ONCE = 2;
const queue = [];      // jobs in order: {file, name, run, status: waiting|sending|done|failed|cancelled, …}
let running = 0;
let onDone = () => {};

/** f(run) is called after each batch, so that the list of runs shows it. */
export function whenUploaded(f) { onDone = f; }

/**
 * Uploads files as one run. Without a run's name a single file is left to the server to name; several files of one drop
 * belong together, so they get the name of their folder, or the time.
 */
export function upload(files, runName) {
  const list = [...files].filter(({file, name}) => file.size >= 0 && !name.split('/').pop().startsWith('.'));
  if (!list.length) { say('There is no file in it.'); return; }
  const run = runName || (list.length > 1 ? folderOf(list) || `upload ${new Date().toISOString().slice(0, 19).replace('T', ' ')}` : '');
  const batch = {run, left: list.length, last: null, forget: document.getElementById('forget')?.checked ?? false};
  for (const {file, name} of list) queue.push({file, name: name.split('/').pop(), batch, status: 'waiting', sent: 0, item: null});
  draw();
  pump();
}

function folderOf(list) {
  const roots = new Set(list.map(({name}) => (name.includes('/') ? name.split('/').at(-2) : '')));
  return roots.size === 1 ? [...roots][0] : '';
}

function pump() {
  while (running < AT_ONCE) {
    const job = queue.find((j) => j.status === 'waiting');
    if (!job) return;
    running++;
    job.status = 'sending';
    send(job).then((answer) => {
      job.status = 'done';
      job.answer = answer;
      job.batch.last = answer.run;
    }, (problem) => {
      if (job.status !== 'cancelled') job.status = 'failed';
      job.problem = problem;
    }).finally(() => {
      running--;
      job.batch.left--;
      update(job);
      pump();
      if (job.batch.left === 0) finished(job.batch);
    });
    update(job);
  }
}

function send(job) {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    job.cancel = () => { job.status = 'cancelled'; xhr.abort(); };
    xhr.open('PUT', path('traces') + query({name: job.name, run: job.batch.run, keep: job.batch.forget ? 'false' : null}));
    xhr.upload.onprogress = (e) => { job.sent = e.loaded; update(job); };
    xhr.onload = () => {
      try {
        if (xhr.status >= 200 && xhr.status < 300) resolve(JSON.parse(xhr.responseText));
        else reject(problemOf(xhr.status, xhr.responseText));
      } catch { reject(problemOf(xhr.status, '')); }
    };
    xhr.onerror = () => reject(problemOf(0, ''));
    xhr.onabort = () => reject(new Error('cancelled'));
    xhr.send(job.file);
  });
}

function finished(batch) {
  forget();
  const failed = queue.filter((j) => j.batch === batch && j.status === 'failed').length;
  say(failed ? `${plural(failed, 'file')} could not be read.` : 'Upload done.');
  if (batch.last && !failed && !queue.some((j) => j.status === 'sending' || j.status === 'waiting')) go({run: batch.last}, {});
  else onDone();
}

// ---- the list at the corner ----

function draw() {
  const aside = document.getElementById('uploads');
  aside.hidden = queue.length === 0;
  const list = h('ul');
  for (const job of queue) {
    job.item = h('li');
    list.prepend(job.item);
    update(job);
  }
  fill(aside, h('div', {class: 'panel-head'}, h('h2', {}, 'Uploads'),
    h('span', {class: 'end'}, h('button', {type: 'button', class: 'quiet', onclick: clear}, 'Close'))), list);
}

function clear() {
  for (let i = queue.length - 1; i >= 0; i--) if (!['sending', 'waiting'].includes(queue[i].status)) queue.splice(i, 1);
  draw();
}

function update(job) {
  if (!job.item) return;
  const line = h('div', {class: 'line'}, h('bdi', {class: 'file', title: clip(job.name, 300)}, clip(job.name, 300)), h('span', {class: 'dim'}, bytes(job.file.size)));
  if (job.status === 'waiting') return void fill(job.item, line, h('span', {class: 'dim'}, 'waiting'));
  if (job.status === 'sending') {
    const whole = job.file.size || 1;
    const sent = job.sent >= whole;
    return void fill(job.item, line,
      h('progress', {max: String(whole), value: String(Math.min(job.sent, whole)), 'aria-label': `Upload of ${clip(job.name, 100)}`}),
      h('div', {class: 'line dim'}, h('span', {class: 'file'}, sent ? 'sent; the server finishes reading…' : `${bytes(job.sent)} sent`),
        h('button', {type: 'button', class: 'quiet', onclick: job.cancel}, 'Cancel')));
  }
  if (job.status === 'done') return void fill(job.item, line, outcome(job.answer));
  fill(job.item, line, h('p', {class: 'failed', role: 'alert'}, job.status === 'cancelled' ? 'Cancelled; nothing was kept.' : job.problem.message));
}

function outcome(answer) {
  const traces = answer.traces ?? [];
  const events = traces.reduce((n, t) => n + (Number(t.events) || 0), 0);
  const known = traces.length > 0 && traces.every((t) => t.existed);
  const ranks = traces.map((t) => t.rank).join(', ');
  return h('div', {}, h('div', {class: 'line'}, h('span', {class: 'done file'}, `✓ ${known ? 'already there: ' : ''}${plural(events, 'event')}${ranks ? `, rank ${ranks}` : ''}`),
    h('a', {href: href({run: answer.run}, {}), 'data-nav': true}, 'open ', h('bdi', {}, clip(answer.run, 40)))),
    (answer.errors ?? []).map((e) => h('p', {class: 'failed', role: 'alert'}, `${clip(e.name, 100)}: ${e.detail}`)));
}

// ---- ways in ----

/** Files of an <input>, with their path where a folder was picked. */
export const fromInput = (input) => [...input.files].map((file) => ({file, name: file.webkitRelativePath || file.name}));

async function fromEntry(entry, prefix, out) {
  const name = prefix + entry.name;
  if (entry.isFile) out.push({file: await new Promise((y, n) => entry.file(y, n)), name});
  else if (entry.isDirectory) {
    const reader = entry.createReader();
    for (;;) { // a reader gives at most 100 entries a call
      const some = await new Promise((y, n) => reader.readEntries(y, n));
      if (!some.length) break;
      for (const e of some) await fromEntry(e, `${name}/`, out);
    }
  }
}

async function fromDrop(transfer) {
  const entries = [...transfer.items].map((i) => i.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => ({file, name: file.name}));
  const out = [];
  for (const e of entries) await fromEntry(e, '', out);
  return out;
}

/** Dropping works on every page; on a run's page it still makes or joins the run named on the home page, if any. */
export function installDrop(runName) {
  const veil = document.getElementById('drop');
  let depth = 0;
  const ours = (e) => [...(e.dataTransfer?.types ?? [])].includes('Files');
  addEventListener('dragenter', (e) => { if (ours(e)) { depth++; veil.hidden = false; e.preventDefault(); } });
  addEventListener('dragleave', (e) => { if (ours(e) && --depth <= 0) { depth = 0; veil.hidden = true; } });
  addEventListener('dragover', (e) => { if (ours(e)) e.preventDefault(); });
  addEventListener('drop', async (e) => {
    if (!ours(e)) return;
    e.preventDefault();
    depth = 0;
    veil.hidden = true;
    upload(await fromDrop(e.dataTransfer), runName());
  });
  addEventListener('beforeunload', (e) => { if (running) e.preventDefault(); });
}
