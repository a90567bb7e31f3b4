// The strip above the timeline: the whole run, and which part of it is in sight.

import {KIND} from './timeline-data.js';
import {GUTTER} from './timeline-draw.js';

export const MINI = 34; // px high
const BUSY = ['compute', 'comm', 'memory', 'other'];

/** Mean busy share of the shown GPU lanes by class, for each pixel of the strip. */
function shares(m, px) {
  if (m.miniBusy?.px === px) return m.miniBusy.busy;
  const {data} = m;
  const busy = Object.fromEntries(BUSY.map((k) => [k, new Float64Array(px)]));
  const lanes = m.shown.filter((l) => l.gpu);
  const scale = px / (data.to - data.from);
  for (const {spans: s} of lanes) {
    for (let i = 0; i < s.n; i++) {
      const sums = busy[s.key[i]];
      if (s.kind[i] === KIND.idle || !sums) continue;
      const a = (s.start[i] - data.from) * scale;
      const b = (s.end[i] - data.from) * scale;
      for (let p = Math.max(0, Math.floor(a)); p < Math.min(px, b); p++) sums[p] += (s.share[i] * (Math.min(b, p + 1) - Math.max(a, p))) / lanes.length;
    }
  }
  m.miniBusy = {px, busy};
  return busy;
}

/** The whole run in a strip: how busy all lanes together are, and where one looks. */
export function drawMini(ctx, m) {
  const {theme, data, view, width} = m;
  const height = MINI;
  ctx.fillStyle = theme.panel;
  ctx.fillRect(0, 0, width, height);
  const span = data.to - data.from;
  const px = Math.max(1, Math.floor(width - GUTTER));
  const busy = shares(m, px);
  for (let i = 0; i < px; i++) {
    let y = height - 3;
    for (const key of BUSY) {
      const h = (height - 8) * busy[key][i];
      if (h < 0.3) continue;
      ctx.fillStyle = theme.colours[key];
      ctx.fillRect(GUTTER + i, y - h, 1, h);
      y -= h;
    }
  }
  const a = GUTTER + ((view.from - data.from) / span) * px;
  const b = GUTTER + ((view.to - data.from) / span) * px;
  ctx.fillStyle = theme.paper;
  ctx.globalAlpha = 0.72;
  ctx.fillRect(GUTTER, 0, a - GUTTER, height);
  ctx.fillRect(b, 0, width - b, height);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = theme.accent;
  ctx.lineWidth = 1.5;
  ctx.strokeRect(a, 1, Math.max(3, b - a), height - 2);
  ctx.font = `11px ${theme.font}`;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  ctx.fillStyle = theme.dim;
  ctx.fillText('whole run', 8, height / 2);
}
