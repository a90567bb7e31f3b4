// What several tabs share: the choice of a rank, and the window of time that one brings along from the timeline.

import {h} from './dom.js';
import {asNumber, time} from './format.js';
import {go, push} from './url.js';

/** A select of the run's ranks; null where there is one only. `changed(rank)` gets '' for all. */
export function rankSelect(page, label, changed) {
  if (page.ranks.length < 2) return null;
  const select = h('select', {'aria-label': label}, h('option', {value: ''}, 'all ranks'), page.ranks.map((r) => h('option', {value: String(r)}, `rank ${r}`)));
  select.value = page.state.rank ?? '';
  select.addEventListener('change', () => {
    push({rank: select.value});
    changed(select.value);
  });
  return select;
}

/** {from, to} of the URL as parameters of an analysis; {} for the whole run. */
export function windowParams(page) {
  const {from, to} = page.state;
  return asNumber(to) > asNumber(from) ? {from, to} : {};
}

/** Says that only a window is looked at, and lets go of it. */
export function windowChip(page) {
  const {from, to} = windowParams(page);
  if (from === undefined) return null;
  return h('button', {type: 'button', 'aria-pressed': 'true', title: 'Only work within this window of the timeline; click for the whole run', onclick: () => go({from: '', to: ''})},
    `${time(asNumber(to) - asNumber(from))} from ${time(asNumber(from))}  ✕`);
}
