// Kernel classes and idle causes: one key, one word, one colour and one texture each, for tables, bars and the canvas.
// The colours themselves are in base.css, dark and light; textures make every class readable without colour.

import {h} from './dom.js';
import {words} from './format.js';

const KINDS = [
  // key, words that the API may use for it, label, texture
  ['compute', ['compute', 'computation', 'kernel'], 'compute', 'solid'],
  ['comm', ['communication', 'comm', 'communication_only', 'collective', 'nccl'], 'communication', 'stripes'],
  ['memory', ['memory', 'memory_only', 'memcpy', 'memset'], 'memory', 'dots'],
  ['other', ['other', 'other_only', 'mixed'], 'other', 'cross'],
  ['overlap', ['overlap', 'compute_communication', 'overlapped'], 'overlap', 'stripes'],
  ['host', ['host_wait', 'host'], 'host wait', 'hatch'],
  ['wait', ['kernel_wait'], 'kernel wait', 'grid'],
  ['gap', ['other_idle', 'other_wait', 'unknown'], 'other wait', 'sparse'],
  ['op', [], 'operator', 'solid'],
  ['runtime', [], 'runtime call', 'stripes'],
  ['annotation', [], 'annotation', 'solid'],
  ['python', [], 'Python', 'dots'],
  ['idle', ['idle', 'non_compute'], 'idle', 'sparse'],
];
const BY_WORD = new Map(KINDS.flatMap(([key, names]) => names.map((n) => [n, key])));
const LABEL = new Map(KINDS.map(([key, , label]) => [key, label]));
const TEXTURE = new Map(KINDS.map(([key, , , texture]) => [key, texture]));

const CPU = new Set(['op', 'runtime', 'annotation', 'python']);

const norm = (name) => String(name ?? '').toLowerCase().replace(/[\s-]+/g, '_').replace(/_(us|pct|time)$/, '');

/** The key of a kernel class as the API names it. */
export const classKey = (name) => BY_WORD.get(norm(name)) ?? 'other';
/** The key of an idle cause: "other" is a cause too, and not the class of that name. */
export const causeKey = (name) => (norm(name) === 'other' ? 'gap' : BY_WORD.get(norm(name)) ?? 'gap');
/** The key of a call on a CPU thread. */
export const cpuKey = (name) => (CPU.has(name) ? name : 'other');
export const knownKey = (name) => BY_WORD.get(norm(name)) ?? (/ overlapping /.test(name) ? 'overlap' : undefined);
export const keyLabel = (key) => LABEL.get(key) ?? words(key);

export function classChip(name) {
  if (name === null || name === undefined || name === '') return document.createTextNode('–');
  return h('span', {class: 'chip'}, h('span', {class: `swatch k-${knownKey(name) ?? 'other'}`, 'aria-hidden': 'true'}), words(name));
}

export function legend(keys) {
  return h('ul', {class: 'legend', 'aria-label': 'Legend'},
    keys.map((k) => h('li', {}, h('span', {class: `swatch k-${k}`, 'aria-hidden': 'true'}), keyLabel(k))));
}

/** Colours of the page as it is shown now; read once per colour scheme, not per frame. */
export function theme() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  const colours = {};
  for (const key of LABEL.keys()) colours[key] = get(`--k-${key}`);
  return {
    colours, ink: get('--ink'), dim: get('--dim'), line: get('--line'), paper: get('--paper'), panel: get('--panel'),
    lane: get('--lane'), accent: get('--accent'), onBusy: get('--on-busy'), idleInk: get('--idle-ink'), font: getComputedStyle(document.body).fontFamily,
  };
}

/** fillStyle for each key: a repeating pattern at the screen's own resolution. */
export function patterns(ctx, colours, ratio) {
  const out = {};
  for (const [key, colour] of Object.entries(colours)) out[key] = texture(ctx, TEXTURE.get(key), colour, ratio);
  return out;
}

function texture(ctx, kind, colour, ratio) {
  if (kind === 'solid') return colour;
  const size = Math.round(8 * ratio);
  const tile = h('canvas');
  tile.width = size;
  tile.height = size;
  const c = tile.getContext('2d');
  const idle = kind === 'hatch' || kind === 'grid' || kind === 'sparse';
  c.fillStyle = colour;
  c.globalAlpha = idle ? 0.22 : 1;
  c.fillRect(0, 0, size, size);
  c.globalAlpha = idle ? 1 : 0.35;
  c.strokeStyle = idle ? colour : '#fff';
  c.fillStyle = c.strokeStyle;
  c.lineWidth = Math.max(1, ratio);
  const half = size / 2;
  if (kind === 'hatch') line(c, [[-1, 1, 1, -1], [-1, size + 1, size + 1, -1], [size - 1, size + 1, size + 1, size - 1]]);
  if (kind === 'stripes') line(c, [[0, half / 2, size, half / 2], [0, half * 1.5, size, half * 1.5]]);
  if (kind === 'cross') line(c, [[0, 0, size, size], [0, size, size, 0]]);
  if (kind === 'dots' || kind === 'grid') for (const [x, y] of [[half / 2, half / 2], [half * 1.5, half * 1.5]]) c.fillRect(Math.round(x - ratio), Math.round(y - ratio), Math.round(2 * ratio), Math.round(2 * ratio));
  if (kind === 'sparse') line(c, [[0, half, half, half]]);
  const pattern = ctx.createPattern(tile, 'repeat');
  pattern.setTransform(new DOMMatrix().scale(1 / ratio)); // the canvas' own scale would enlarge it once more
  return pattern;
}

function line(c, segments) {
  c.beginPath();
  for (const [x, y, u, v] of segments) { c.moveTo(x, y); c.lineTo(u, v); }
  c.stroke();
}
