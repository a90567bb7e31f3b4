// A run's page: what stands on every tab (title, finding, quality) and the tabs.

import {analysesTab} from './analyses.js';
import * as api from './api.js';
import {ranksPanel} from './breakdown.js';
import {fill, h} from './dom.js';
import {asNumber, bytes, clip, date, plural} from './format.js';
import {filesTab} from './files.js';
import {guard} from './guard.js';
import {idleTab} from './idle.js';
import {kernelsPanel} from './kernels.js';
import {openRun, refreshButton} from './mounts.js';
import {qualityBanner} from './quality.js';
import {reportPanel} from './report.js';
import {timelinePanel} from './timeline.js';
import {go, href, state as now} from './url.js';

/** A panel that has a tab for itself. */
const alone = (panel, options) => (box, page) => {
  const section = h('section', {class: 'panel'}, h('p', {class: 'loading'}, 'Loading…'));
  fill(box, section);
  return panel(section, page, options);
};

const TABS = [
  ['', 'Overview', overviewTab],
  ['kernels', 'Kernels', alone(kernelsPanel, {max: 'calc(100vh - 310px)', windowed: true})],
  ['timeline', 'Timeline', alone(timelinePanel, {tall: true})],
  ['idle', 'Idle', idleTab],
  ['analyses', 'Analyses', analysesTab],
  ['files', 'Files', filesTab],
];

export async function runPage(root, state, signal) {
  const info = await openRun(state.run, signal, () => fill(root, h('div', {class: 'page'}, h('p', {class: 'loading'}, 'Reading the traces of the folder…'))));
  if (signal.aborted) return;
  if (!info) {
    go({}, {});
    return;
  }
  const page = {run: state.run, info, state, signal, ranks: ranksOf(info)};
  const tab = TABS.find(([key]) => key === (state.tab ?? '')) ?? TABS[0];
  const finding = h('section', {class: 'finding-box', 'aria-label': 'Main finding'}, h('p', {class: 'finding dim'}, 'Reading the run…'));
  const quality = h('div');
  const box = h('div', {class: 'stacked', id: 'tab'});
  fill(root, h('div', {class: 'page'}, title(page, () => runPage(root, state, signal)), finding, quality, tabs(tab[0]), box));
  const whole = tab[0] === '';
  finding.hidden = !whole;
  await Promise.all([
    whole ? reportPanel(finding, page) : null,
    guard(quality, signal, () => qualityBanner(quality, page)),
    guard(box, signal, () => tab[2](box, page)),
  ]);
}

const ranksOf = (info) => [...new Set((info.traces ?? []).map((t) => t.rank))].sort((a, b) => asNumber(a) - asNumber(b));

function title({run, info, ranks}, reload) {
  const sum = (key) => (info.traces ?? []).reduce((n, t) => n + (asNumber(t[key]) || 0), 0);
  const facts = [plural(ranks.length, 'rank'), plural(sum('events'), 'event'), sum('bytes_json') ? `${bytes(sum('bytes_json'))} of JSON` : 'in memory', sum('bytes_json') ? date(info.updated ?? info.created) : null];
  return h('div', {class: 'run-title'}, h('h1', {}, h('bdi', {title: clip(run, 500)}, clip(run, 120))), h('span', {class: 'dim'}, facts.filter(Boolean).join(' · ')),
    info.state === 'stale' ? h('span', {class: 'toolbar'}, h('span', {class: 'state stale'}, 'stale: the folder has changed'), refreshButton(run, reload)) : null);
}

/** What the tabs share goes with one from tab to tab: the ranks and the window of time, as they are when one clicks. */
function tabs(current) {
  const target = (key) => {
    const {run, rank, from, to} = now();
    return href({run, rank, from, to, tab: key}, {});
  };
  return h('nav', {class: 'tabs', 'aria-label': 'Views of the run'}, TABS.map(([key, label]) => {
    const a = h('a', {href: target(key), 'data-nav': true, 'aria-current': key === current ? 'page' : null}, label);
    for (const type of ['pointerenter', 'focus', 'click']) a.addEventListener(type, () => { a.href = target(key); });
    return a;
  }));
}

async function overviewTab(box, page) {
  const ranks = h('section', {class: 'panel', 'aria-label': 'GPU time per rank'}, h('p', {class: 'loading'}, 'Loading…'));
  const timeline = h('section', {class: 'panel', 'aria-label': 'Timeline'}, h('p', {class: 'loading'}, 'Loading the timeline…'));
  const kernels = h('section', {class: 'panel', 'aria-label': 'Kernels'}, h('p', {class: 'loading'}, 'Loading the kernels…'));
  fill(box, ranks, timeline, kernels);
  await Promise.all([
    guard(ranks, page.signal, () => ranksPanel(ranks, page)),
    guard(timeline, page.signal, () => timelinePanel(timeline, page, {tall: false})),
    guard(kernels, page.signal, () => kernelsPanel(kernels, page, {max: '420px'})),
  ]);
}

