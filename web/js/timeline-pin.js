// Words for a span of the timeline: the tooltip, and the details of what is pinned.

import * as api from './api.js';
import {copyButton, fill, h} from './dom.js';
import {asNumber, clip, count, percent, plural, shortName, time, usText, words} from './format.js';
import {keyLabel} from './palette.js';
import {KIND} from './timeline-data.js';
import {laneLabel} from './timeline-draw.js';

const CAUSE = {
  host: 'Host wait: the CPU launched the next work only after this stream had run dry.',
  wait: 'Kernel wait: the next work was launched in time; a short pause between two kernels.',
  gap: 'Other: the work was launched in time but waited for something else, or its launch is not in the trace.',
};

/** Title, full name and facts of a span. */
function tell(t, span) {
  const cell = (column) => span.result.col(column)[span.row];
  const where = `rank ${span.lane.group} · ${laneLabel(span.lane, t.manyDevices)}`;
  const dur = time(span.end - span.start);
  const name = cell('name') ?? '';
  const short = cell('short_name') || shortName(name) || '(no name)';
  if (span.kind === KIND.idle) return {title: `Idle, ${keyLabel(span.key)}: ${dur}`, full: '', facts: where, name, short, say: CAUSE[span.key]};
  const n = asNumber(cell('count')) || 0;
  if (span.kind === KIND.busy && span.share === 0) return {title: `Idle in pieces: ${dur}`, full: '', facts: where, name: '', short: '', say: `Mostly ${keyLabel(span.cause)}.`};
  if (span.kind === KIND.busy) return {title: `${plural(n, 'event')} start in ${dur}${name ? `, the longest ${short}` : ''}`, full: name, facts: `mostly ${keyLabel(span.key)} · busy ${percent(100 * span.share)} · ${where}`, name, short, say: span.cause ? `Idle between them mostly ${keyLabel(span.cause)}.` : ''};
  return {title: short, full: name, facts: `${dur} · ${keyLabel(span.key)} · ${where}`, name, short, say: ''};
}

export function tip(t, span, px, py) {
  const box = t.tip;
  if (!span) { box.hidden = true; return; }
  const {title, full, facts, say, short} = tell(t, span);
  fill(box, h('bdi', {class: 'tip-name'}, clip(title, 200)), h('div', {class: 'tip-facts'}, facts),
    say ? h('div', {}, say) : null,
    span.kind === KIND.idle && short ? h('div', {class: 'dim'}, 'ended by ', h('bdi', {class: 'name'}, clip(short, 120))) : null,
    full && full !== title ? h('bdi', {class: 'tip-full'}, clip(full, 600)) : null,
    h('div', {class: 'tip-facts dim'}, `from ${usText(span.start)} µs`));
  box.hidden = false;
  const host = box.offsetParent.getBoundingClientRect();
  const canvas = t.canvas.getBoundingClientRect();
  const left = canvas.left - host.left + px + 14;
  const top = canvas.top - host.top + py + 16;
  const below = canvas.top + py + 20 + box.offsetHeight < innerHeight;
  box.style.left = `${Math.max(4, Math.min(left, host.width - box.offsetWidth - 8))}px`;
  box.style.top = `${below ? top : top - box.offsetHeight - 30}px`;
}

export function showPin(t, span) {
  const box = t.details;
  box.hidden = !span;
  if (!span) { fill(box); return; }
  const {title, full, name, short} = tell(t, span);
  const id = span.result.col('event')[span.row];
  const trace = traceOf(t, span);
  const facts = [
    ['rank', span.lane.rank], ['lane', span.lane.name],
    ['start', `${usText(span.start)} µs`], ['duration', `${time(span.end - span.start)} (${usText(span.end - span.start)} µs)`],
    span.kind === KIND.idle ? ['cause', CAUSE[span.key]] : ['class', keyLabel(span.key)],
    span.kind === KIND.idle && name ? ['ended by', short] : null,
    span.kind === KIND.busy ? ['events', count(span.result.col('count')[span.row])] : null,
    span.kind === KIND.busy ? ['busy', percent(100 * span.share)] : null,
    ...extra(span),
  ].filter(Boolean);
  const args = h('div', {class: 'tl-args'});
  const whole = id !== null && id !== undefined && trace;
  fill(box, h('header', {}, h('bdi', {class: 'name'}, clip(title, 300)), name ? copyButton('Copy name', String(name)) : null,
    whole ? h('a', {class: 'button quiet', href: api.eventUrl(trace, id), target: '_blank', rel: 'noopener'}, span.kind === KIND.event ? `Event ${id} as JSON` : `Event ${id}, its ${span.kind === KIND.idle ? 'end' : 'longest'}, as JSON`) : null,
    h('button', {type: 'button', class: 'quiet', title: 'Let go (Esc)', onclick: () => t.setPin(null)}, 'Close')),
  h('div', {}, name && full !== title ? h('bdi', {class: 'full-name'}, clip(full, 6000)) : null, pairs(facts)), args);
  t.live.textContent = `${title}. ${facts.map(([k, v]) => `${k} ${v}`).join(', ')}`;
  if (whole && span.kind !== KIND.busy) showArgs(t, args, trace, id);
  else if (span.kind === KIND.busy) fill(args, h('p', {class: 'dim'}, 'Several events share these pixels: double-click, or f, zooms in until they come apart.'));
}

const SHOWN = new Set(['rank', 'lane', 'lane_kind', 'lane_name', 'depth', 'kind', 'start_us', 'end_us', 'name', 'short_name', 'class', 'cause', 'count', 'busy_pct', 'event']);

/** Further columns the server may give, so that they need no new code here. */
function extra(span) {
  return span.result.specs.filter((s) => !SHOWN.has(s.name)).map((s) => [s, span.result.data[s.name][span.row]])
    .filter(([, v]) => v !== null && v !== undefined && v !== '')
    .map(([s, v]) => [words(s.name.replace(/_us$/, '')), s.type === 'time' ? time(v) : clip(v, 200)]);
}

function pairs(facts) {
  return h('dl', {class: 'pairs'}, facts.map(([k, v]) => [h('dt', {}, k), h('dd', {}, h('bdi', {}, v))]));
}

/** The trace a span belongs to; null where several traces have its rank, as the lane does not tell which. */
function traceOf(t, span) {
  const fits = (t.page.info.traces ?? []).filter((x) => String(x.rank) === span.lane.rank);
  return fits.length === 1 ? fits[0].id : null;
}

async function showArgs(t, box, trace, id) {
  try {
    const event = await api.event(trace, id, t.page.signal);
    const args = Object.entries(event.args ?? {});
    if (!box.isConnected) return;
    fill(box, args.length ? pairs([['category', event.cat ?? ''], ...args.map(([k, v]) => [clip(k, 100), clip(typeof v === 'object' ? JSON.stringify(v) : v, 600)])]) : h('p', {class: 'dim'}, 'The event has no arguments.'));
  } catch (e) {
    if (e.name !== 'AbortError') fill(box, h('p', {class: 'dim'}, e.message));
  }
}
