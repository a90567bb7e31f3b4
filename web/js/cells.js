// What a column of an analysis looks like in a table, from its registry entry alone: an analysis that is added
// to the server has a readable table here without a line of code.

import {h} from './dom.js';
import {asNumber, clip, count, fixed, heading, shortName, timeUnit, unitLabel} from './format.js';
import {classChip} from './palette.js';

export const largest = (values) => values.reduce((m, v) => Math.max(m, Math.abs(asNumber(v)) || 0), 0);

const isTime = (spec) => spec.type === 'time';
const isPct = (spec) => spec.type === 'percent';
export const isNumeric = (spec) => ['integer', 'time', 'real', 'percent'].includes(spec.type);

/** One DataTable column for `spec` over `values`; `override` replaces any of its members. */
export function columnOf(spec, values, override = {}, unit = timeUnit(largest(values))) {
  const numeric = isNumeric(spec);
  const column = {
    key: spec.name,
    label: heading(spec),
    title: spec.doc,
    unit: numeric ? unitLabel(spec.unit) : '',
    numeric,
    width: numeric ? `${Math.max(5.2, heading(spec).length * 0.5 + 2.4).toFixed(1)}rem` : undefined,
    value: numeric ? (i) => asNumber(values[i]) : (i) => values[i],
    cell: (td, i) => { td.textContent = plain(values[i]); },
  };
  if (isTime(spec)) {
    column.unit = unit.name;
    column.cell = (td, i) => { td.textContent = values[i] === null ? '–' : fixed(asNumber(values[i]) / unit.per, unit.digits); };
  } else if (isPct(spec)) {
    column.width = '8.5rem';
    column.cell = (td, i) => { td.append(shareBar(values[i], 100)); };
  } else if (spec.type === 'integer') {
    const whole = /(^|_)(rank|stream|device|step|event|pid|tid|id)$/.test(spec.name); // an identity, not an amount: no grouping
    if (whole) column.width = '4.7rem';
    column.cell = (td, i) => { td.textContent = values[i] === null ? '–' : whole ? String(values[i]) : count(values[i]); };
  } else if (spec.type === 'real') {
    column.cell = (td, i) => { td.textContent = fixed(values[i], 3); };
  } else if (spec.type === 'boolean') {
    column.cell = (td, i) => { td.textContent = values[i] === null ? '–' : values[i] ? 'yes' : 'no'; };
  } else if (/^(class|kernel_class|kernel_type|type|cause)$/.test(spec.name)) {
    column.width = '9.2rem';
    column.cell = (td, i) => { td.append(classChip(values[i])); };
  } else if (/(^|_)name$|kernel$/.test(spec.name)) {
    column.cell = (td, i) => { nameCell(td, values[i]); };
  }
  return {...column, ...override};
}

export function plain(v) {
  if (v === null || v === undefined) return '–';
  return clip(typeof v === 'object' ? JSON.stringify(v) : String(v), 400);
}

/** The short name to read, the full one to hover. Direction is isolated: a name in Arabic does not turn its row round. */
export function nameCell(cell, full, short, rest = '') {
  if (full === null || full === undefined) return cell.append('–');
  cell.append(h('bdi', {class: 'name', title: clip(full, 1500)}, short || shortName(full) || '(no name)', rest ? h('span', {class: 'dim'}, rest) : null));
}

/** A bar with its number; the number is what counts, the bar lets the eye find the large ones. */
export function shareBar(value, max) {
  const n = asNumber(value);
  if (!Number.isFinite(n)) return document.createTextNode('–');
  return h('span', {class: 'share'},
    h('span', {class: 'share-track', 'aria-hidden': 'true'}, h('span', {class: 'share-fill', style: {width: `${Math.max(0, Math.min(100, (100 * n) / max))}%`}})),
    h('span', {class: 'share-text'}, n.toFixed(n !== 0 && Math.abs(n) < 0.1 ? 3 : 1)));
}

/** A parts-of-a-whole bar: parts are {key, label, value}; the text of each stands in its title and in `text`. */
export function stackBar(parts, total, text) {
  const bar = h('div', {class: 'stack', role: 'img', 'aria-label': text});
  for (const p of parts) {
    const share = total > 0 ? (100 * p.value) / total : 0;
    if (!(share > 0)) continue;
    const label = share > 9 ? h('span', {}, `${Math.round(share)} %`) : null;
    bar.append(h('span', {class: `part k-${p.key}`, style: {width: `${share}%`}, title: `${p.label}: ${p.text} (${share.toFixed(1)} %)`}, label));
  }
  return bar;
}
