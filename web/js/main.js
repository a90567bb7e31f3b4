// The page's frame: which view the URL asks for, its title and crumbs, the help, the drop target.

import {copyText, fill, h, say} from './dom.js';
import {clip} from './format.js';
import {home} from './home.js';
import {runPage} from './run.js';
import {installDrop} from './upload.js';
import {install, onNavigate, state} from './url.js';

let leave = null; // aborts what the view on the page still waits for

async function show() {
  leave?.abort();
  leave = new AbortController();
  const {signal} = leave;
  const main = document.getElementById('main');
  const now = state();
  document.title = now.run ? `${clip(now.run, 80)} · Holoscope` : 'Holoscope';
  fill(document.getElementById('crumbs'), now.run && [h('span', {class: 'dim', 'aria-hidden': 'true'}, '/'), h('bdi', {class: 'crumb', title: clip(now.run, 300)}, clip(now.run, 200)),
    h('button', {type: 'button', class: 'quiet', title: 'Copy the address of exactly this view', onclick: (e) => copyText(location.href, e.currentTarget)}, 'Copy link')]);
  say('');
  try {
    await (now.run ? runPage(main, now, signal) : home(main, now, signal));
  } catch (e) {
    if (e.name === 'AbortError' || signal.aborted) return;
    fill(main, h('div', {class: 'page'}, h('p', {class: 'error-box', role: 'alert'}, e.message), h('p', {}, h('a', {href: '/', 'data-nav': true}, 'All runs'))));
    if (!e.status && e.name !== 'Error') console.error(e);
  }
}

const KEYS = [
  ['/', 'to the search or filter field'], ['?', 'this help'], ['1 … 6', 'the tabs of a run'],
  ['↑ ↓ or k j', 'table: previous, next row; Enter opens it'],
  ['w s or + −', 'timeline: zoom in, out (also the wheel)'], ['a d or ← →', 'timeline: earlier, later (also shift and drag)'],
  ['drag', 'timeline: zoom to the range'], ['↑ ↓', 'timeline: scroll the lanes (also alt and wheel)'],
  ['0', 'timeline: the whole run'], ['f', 'timeline: zoom to what is pinned'], ['[ ]', 'timeline: previous, next step'],
  [', .', 'timeline: previous, next event or gap of the lane'], ['Esc', 'timeline: let go of what is pinned'],
];

function help() {
  const dialog = document.getElementById('help');
  fill(dialog, h('h1', {id: 'help-title'}, 'Keys'),
    h('table', {class: 'keys'}, h('tbody', {}, KEYS.map(([k, what]) => h('tr', {}, h('td', {}, h('kbd', {}, k)), h('td', {}, what))))),
    h('div', {class: 'row'}, h('button', {type: 'button', onclick: () => dialog.close()}, 'Close')));
  dialog.showModal();
}

function keys(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector('dialog[open]')) return;
  if (e.target instanceof Element && e.target.matches('input, textarea, select')) {
    if (e.key === 'Escape') e.target.blur();
    return;
  }
  if (e.key === '?') help();
  else if (e.key === '/') {
    const field = document.querySelector('main input[type="search"]');
    if (!field) return;
    e.preventDefault();
    field.focus();
    field.select();
  } else if (/^[1-9]$/.test(e.key)) document.querySelectorAll('.tabs a')[Number(e.key) - 1]?.click();
}

install();
onNavigate(show);
installDrop(() => document.getElementById('run-name')?.value.trim() ?? '');
document.getElementById('help-open').addEventListener('click', help);
addEventListener('keydown', keys);
show();
