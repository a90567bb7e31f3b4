// Draws the timeline: ruler, steps, one lane per rank and stream. Only what is in sight is drawn, so the cost
// follows the pixels and not the trace. All sizes are CSS pixels; the caller scales the context to the device.

import {clip, point, shortName, time} from './format.js';
import {KIND} from './timeline-data.js';

export const GUTTER = 132;  // the labels' width
export const RULER = 24;
const LANE = 24;             // a lane's height at least, and at most
const LANE_MOST = 44;
const DEEP = 16;             // of a row of nested calls
const GAP = 3;              // between the bars of two lanes
const STEP = 15;            // height of a rank's band of steps
const LETTERS = 34;         // a bar of so many pixels has room for a name

/** Places lanes under each other: [{lane | head + steps, y, h}], and the height of it all. Few lanes share `room` px. */
export function layout(lanes, steps, room) {
  const tops = lanes.filter((l) => !l.depth);
  const groups = new Set(lanes.map((l) => l.group)).size;
  const each = Math.floor((room - groups * (STEP + 6) - (lanes.length - tops.length) * DEEP - 8) / Math.max(1, tops.length));
  const plain = Math.max(LANE, Math.min(LANE_MOST, each));
  const rows = [];
  let y = 0;
  let group = null;
  for (const lane of lanes) {
    if (lane.group !== group) {
      if (group !== null) y += 6;
      group = lane.group;
      rows.push({head: lane, steps: steps.get(group), y, h: STEP});
      y += STEP;
    }
    const h = lane.depth ? DEEP : lane.gpu ? plain : LANE;
    rows.push({lane, y, h});
    y += h;
  }
  return {rows, height: y + 8};
}

/** 1, 2 or 5 times a power of ten, so that ticks are about 110 px apart. */
export function tickStep(usPerPx) {
  const raw = usPerPx * 110;
  const ten = 10 ** Math.floor(Math.log10(raw));
  return ten * ([1, 2, 5].find((f) => f * ten >= raw) ?? 10);
}

/**
 * m: {width, height, view: {from, to}, scroll, rows, data, theme, patterns, hover, pin, highlight, range}
 */
export function draw(ctx, m) {
  const {width, height, view, theme} = m;
  const scale = (width - GUTTER) / (view.to - view.from);
  const x = (us) => GUTTER + (us - view.from) * scale;
  ctx.fillStyle = theme.panel;
  ctx.fillRect(0, 0, width, height);
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, RULER, width, height - RULER);
  ctx.clip();
  for (const row of m.rows) {
    const y = RULER + row.y - m.scroll;
    if (y + row.h < RULER || y > height) continue;
    if (row.lane) drawLane(ctx, m, row, y, x, scale);
    else drawSteps(ctx, m, row, y, x);
  }
  ctx.restore();
  drawRuler(ctx, m, x, scale);
  if (m.range) drawRange(ctx, m, x);
}

function drawLane(ctx, m, row, y, x, scale) {
  const {view, theme, width} = m;
  const {lane} = row;
  const top = y + GAP / 2;
  const h = row.h - GAP;
  ctx.fillStyle = theme.lane;
  ctx.fillRect(GUTTER, top, width - GUTTER, h);
  ctx.save();
  ctx.beginPath();
  ctx.rect(GUTTER, top, width - GUTTER, h);
  ctx.clip();
  const labels = [];
  for (const p of m.data.pieces(lane, view.from, view.to)) drawPiece(ctx, m, lane, p, top, h, x, labels);
  for (const l of labels) drawLabel(ctx, m, l, top, h);
  ctx.restore();
  if (lane.depth) return;
  ctx.fillStyle = m.pin?.lane.key === lane.key || m.hover?.lane.key === lane.key ? theme.ink : theme.dim;
  ctx.font = `11px ${theme.font}`;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  ctx.fillText(fit(ctx, laneLabel(lane, m.manyDevices), GUTTER - 22), 16, y + row.h / 2);
}

/** "GPU 0 stream 7", without the GPU where each rank has one. */
export function laneLabel(lane, manyDevices) {
  const name = clip(lane.name, 80);
  return lane.gpu && !manyDevices ? name.replace(/^GPU -?\d+ /, '') : name;
}

/** Gaps first, work on top. Bars thinner than a pixel that would fall into the same pixel are drawn once. */
function drawPiece(ctx, m, lane, p, top, h, x, labels) {
  const s = p.spans;
  const first = s.from(p.from);
  const left = Math.max(GUTTER, Math.round(x(p.from))); // whole pixels: tiles neither gape nor overlap
  const right = Math.min(m.width, Math.round(x(p.to)));
  const names = p.result.col('name');
  for (const busy of [false, true]) {
    let last = -1;
    for (let i = first; i < s.n && s.start[i] < p.to; i++) {
      if ((s.kind[i] !== KIND.idle) !== busy || s.end[i] < p.from) continue;
      const a = Math.max(left, x(s.start[i]));
      const b = Math.min(right, Math.max(a + 1, x(s.end[i])));
      if (b <= a || b <= last) continue;
      last = b - a <= 1.5 ? Math.ceil(b) : b;
      const name = names[s.row[i]];
      if (busy) drawBusy(ctx, m, s, i, a, b, top, h, m.highlight && !String(name ?? '').startsWith(m.highlight));
      else {
        ctx.fillStyle = m.patterns[s.key[i]];
        ctx.fillRect(a, top, b - a, h);
      }
      if (s.kind[i] !== KIND.busy) note(labels, s, i, a, b, name);
      if (m.pin && m.pin.lane.key === lane.key && m.pin.start === s.start[i] && m.pin.end === s.end[i]) note(labels, s, i, a, b, name).pinned = true;
    }
  }
}

function drawBusy(ctx, m, s, i, a, b, top, h, faded) {
  const bin = s.kind[i] === KIND.busy;
  if (bin && s.cause[i]) {
    ctx.fillStyle = m.patterns[s.cause[i]];
    ctx.fillRect(a, top, b - a, h);
  }
  const bar = bin ? Math.max(s.share[i] > 0 ? 2 : 0, h * s.share[i]) : h;
  const colour = m.theme.colours[s.key[i]];
  ctx.globalAlpha = faded ? 0.22 : 1;
  ctx.fillStyle = colour;
  ctx.fillRect(a, top + h - bar, b - a, bar);
  if (b - a >= 2 && m.patterns[s.key[i]] !== colour) {
    ctx.fillStyle = m.patterns[s.key[i]];
    ctx.fillRect(a, top + h - bar, b - a, bar);
  }
  ctx.globalAlpha = 1;
}

/** What is to be written once all pieces are drawn; a span that goes on in the next piece is one label. */
function note(labels, s, i, a, b, name) {
  const last = labels.findLast((l) => l.kind === s.kind[i]);
  if (last && last.start === s.start[i] && last.end === s.end[i]) {
    last.b = Math.max(last.b, b);
    return last;
  }
  const label = {start: s.start[i], end: s.end[i], kind: s.kind[i], key: s.key[i], a, b, name};
  labels.push(label);
  return label;
}

function drawLabel(ctx, m, l, top, h) {
  const {theme} = m;
  if (l.kind === KIND.event && l.b - l.a > 3) { // a hair line between neighbours
    ctx.fillStyle = theme.panel;
    ctx.fillRect(l.b - 0.5, top, 0.5, h);
  }
  if (l.kind === KIND.event && l.b - l.a >= LETTERS) letters(ctx, m, shortOf(l.name), l.a, l.b, top, h, theme.onBusy, theme.colours[l.key]);
  if (l.kind === KIND.idle && l.b - l.a >= 74) letters(ctx, m, `${m.labels[l.key]} ${time(l.end - l.start)}`, l.a, l.b, top, h, theme.idleInk, theme.panel);
  if (!l.pinned) return;
  ctx.strokeStyle = theme.ink;
  ctx.lineWidth = 2;
  ctx.strokeRect(l.a + 1, top + 1, Math.max(2, l.b - l.a - 2), h - 2);
}

const shorts = new Map();
function shortOf(name) {
  let s = shorts.get(name);
  if (s === undefined) {
    if (shorts.size > 5000) shorts.clear();
    shorts.set(name, s = shortName(name));
  }
  return s;
}

/** Text inside a bar, on a patch of the bar's plain colour so that the texture does not run through it. */
function letters(ctx, m, text, a, b, top, h, ink, patch) {
  if (h < 11) return;
  ctx.font = `11px ${m.theme.font}`;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  const shown = fit(ctx, text, b - a - 10);
  if (!shown) return;
  const w = ctx.measureText(shown).width;
  ctx.fillStyle = patch;
  ctx.fillRect(a + 3, top + h / 2 - 7, w + 4, 14);
  ctx.fillStyle = ink;
  ctx.fillText(shown, a + 5, top + h / 2 + 0.5);
}

const widths = new Map();
function fit(ctx, text, px) {
  const key = `${Math.floor(px / 4)}|${text}`;
  let s = widths.get(key);
  if (s !== undefined) return s;
  s = text;
  if (ctx.measureText(s).width > px) {
    let low = 0;
    let high = Math.min(s.length, 200);
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if (ctx.measureText(`${s.slice(0, mid)}…`).width <= px) low = mid;
      else high = mid - 1;
    }
    s = low > 1 ? `${s.slice(0, low)}…` : '';
  }
  if (widths.size > 20000) widths.clear();
  widths.set(key, s);
  return s;
}

function drawSteps(ctx, m, row, y, x) {
  const {theme} = m;
  ctx.font = `600 11px ${theme.font}`;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  ctx.fillStyle = theme.ink;
  ctx.fillText(`rank ${row.head.group}`, 8, y + row.h / 2);
  if (!row.steps) return;
  const s = row.steps.spans;
  const names = m.data.root.result.col('name');
  ctx.save();
  ctx.beginPath();
  ctx.rect(GUTTER, y, m.width - GUTTER, row.h);
  ctx.clip();
  ctx.font = `10px ${theme.font}`;
  for (let i = s.from(m.view.from); i < s.n && s.start[i] < m.view.to; i++) {
    const a = x(s.start[i]);
    const b = x(s.end[i]);
    ctx.fillStyle = theme.line;
    ctx.fillRect(a, y + 2, Math.max(1, b - a - 1), row.h - 4);
    ctx.fillStyle = theme.dim;
    ctx.fillRect(a, y, 1, row.h);
    const from = Math.max(a, GUTTER);
    const label = fit(ctx, stepLabel(names[s.row[i]]), Math.min(b, m.width) - from - 8);
    ctx.fillStyle = theme.ink;
    if (label) ctx.fillText(label, from + 4, y + row.h / 2 + 0.5);
  }
  ctx.restore();
}

export const stepLabel = (name) => String(name ?? '').replace(/^ProfilerStep\s*#\s*/, 'step ');

function drawRuler(ctx, m, x, scale) {
  const {theme, view, width} = m;
  ctx.fillStyle = theme.panel;
  ctx.fillRect(0, 0, width, RULER);
  ctx.fillStyle = theme.line;
  ctx.fillRect(0, RULER - 1, width, 1);
  ctx.fillRect(GUTTER - 1, 0, 1, m.height);
  ctx.font = `11px ${theme.font}`;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  const step = tickStep(1 / scale);
  for (let k = Math.ceil(view.from / step); k * step <= view.to; k++) {
    const at = x(k * step);
    ctx.fillStyle = theme.line;
    ctx.fillRect(at, RULER - 7, 1, 7);
    ctx.fillStyle = theme.dim;
    ctx.fillText(point(k * step, step), at + 4, RULER / 2 - 1);
  }
}

function drawRange(ctx, m, x) {
  const a = x(Math.min(m.range.from, m.range.to));
  const b = x(Math.max(m.range.from, m.range.to));
  ctx.fillStyle = m.theme.accent;
  ctx.globalAlpha = 0.16;
  ctx.fillRect(a, RULER, b - a, m.height - RULER);
  ctx.globalAlpha = 1;
  ctx.fillRect(a, 0, 1, m.height);
  ctx.fillRect(b, 0, 1, m.height);
  const label = time(Math.abs(m.range.to - m.range.from));
  ctx.font = `600 12px ${m.theme.font}`;
  const w = ctx.measureText(label).width + 12;
  const at = Math.max(GUTTER, Math.min(m.width - w, (a + b) / 2 - w / 2));
  ctx.fillRect(at, RULER + 4, w, 20);
  ctx.fillStyle = m.theme.panel;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  ctx.fillText(label, at + 6, RULER + 14);
}
