// The first view of a run: the main finding, the kernels that took the time, the bottleneck with the figures that decide
// it, what to change. Every number is a link to the analysis that it comes from, every example to its event.

import * as api from './api.js';
import {fill, h} from './dom.js';
import {asNumber, clip, count, fixed, percent, plural, time, usText, words} from './format.js';
import {href} from './url.js';

const AROUND_US = 500; // of the timeline on each side of an event

export async function reportPanel(box, page) {
  let report;
  let over = false;
  overview(box, page, () => over);
  try {
    report = await api.report(page.run, page.signal);
    over = true;
  } catch (e) {
    over = true;
    if (page.signal.aborted) return;
    fill(box, h('p', {class: 'finding dim'}, `No summary: ${e.message}`));
    return;
  }
  if (page.signal.aborted) return;
  const sentence = textOf(report.main_finding) || 'The report has no finding for this run.';
  const verdict = report.bottleneck?.verdict ?? '';
  const form = (format, label) => h('a', {href: api.reportUrl(page.run, format), target: '_blank', rel: 'noopener'}, label);
  fill(box, h('p', {class: 'finding'}, clip(sentence, 600)),
    (report.notes ?? []).map((note) => h('p', {class: 'dim'}, h('bdi', {}, clip(note, 600)))),
    h('p', {class: 'dim'}, verdict ? h('strong', {class: 'verdict'}, clip(verdict, 60)) : null, 'Report: ', form('html', 'page'), ' · ', form('md', 'Markdown'), ' · ', form('json', 'JSON'), ' · ', h('a', {href: `${api.path('rules')}?format=md`, target: '_blank', rel: 'noopener'}, 'rules')),
    h('div', {class: 'two'}, topKernels(report, page), bottleneck(report, page)),
    recommendations(report, page), notJudged(report));
}

/** What is counted already, while the report is made. */
async function overview(box, page, over) {
  try {
    const early = await api.reportOverview(page.run, page.signal);
    if (over() || page.signal.aborted || !early.summary) return;
    const {events, kernels, ranks} = early.summary;
    fill(box, h('p', {class: 'finding dim'}, `Judging ${plural(events, 'event')} of ${plural(ranks, 'rank')}, ${plural(kernels, 'kernel')}…`), topKernels(early, page));
  } catch {
    // The report itself tells what is wrong.
  }
}

const textOf = (x) => (typeof x === 'string' ? x : x?.text ?? '');

/** `params` as a rule has them, "by=op" or "": the address of the analysis on this page. */
export function evidenceHref(run, analysis, params = '') {
  const state = {run, tab: 'analyses', a: analysis};
  for (const pair of params.split('&').filter(Boolean)) {
    const at = pair.indexOf('=');
    if (at > 0) state[`p.${pair.slice(0, at)}`] = pair.slice(at + 1);
  }
  return href(state, {});
}

const link = (to, ...text) => h('a', {href: to, 'data-nav': true}, ...text);

/** The kernels; of a run without GPU work the operators, by the time they spend themselves. */
function topKernels(report, page) {
  const rows = report.top_kernels ?? [];
  if (!rows.length) return null;
  const operators = rows[0].class === 'operator';
  const head = (label, numeric) => h('th', {scope: 'col', class: numeric ? 'num' : null}, label);
  const target = (k) => (operators ? href({run: page.run, tab: 'analyses', a: 'call-stack', 'p.name': `^${escaped(k.name)}$`}, {}) : href({run: page.run, tab: 'kernels', q: k.name}, {}));
  return h('section', {'aria-label': operators ? 'Top operators' : 'Top kernels'}, h('table', {class: 'brief'},
    h('caption', {}, operators ? 'Operators with most time of their own on the CPU' : `Kernels with most time, of ${time(report.summary?.gpu_work_us)} of GPU work`),
    h('thead', {}, h('tr', {}, head('% time', true), head('Calls', true), head('Avg (µs)', true), head(operators ? 'Operator' : 'Kernel'))),
    h('tbody', {}, rows.map((k) => h('tr', {},
      h('td', {class: 'num'}, percent(k.share_pct)), h('td', {class: 'num'}, count(k.calls)), h('td', {class: 'num'}, fixed(k.mean_us, 1)),
      h('td', {}, h('a', {href: target(k), 'data-nav': true, title: clip(k.name, 600)}, h('bdi', {}, clip(k.display_name || k.short_name || k.name, 100)))))))));
}

const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

function bottleneck(report, page) {
  const b = report.bottleneck ?? {};
  if (!b.sentence) return null;
  const judged = asNumber(report.summary?.gpu_span_us) > 0 ? b.figures ?? [] : [];
  return h('section', {'aria-label': 'Bottleneck'}, h('p', {}, clip(b.sentence, 600)),
    h('ul', {}, judged.map((f) => h('li', {},
      link(evidenceHref(page.run, f.evidence.analysis, f.evidence.params), percent(f.value_pct)), ` ${f.text} `,
      h('span', {class: 'dim', title: f.source}, `(from ${f.threshold_pct} % on: ${f.points_to})`)))));
}

function recommendations(report, page) {
  const list = report.recommendations ?? [];
  if (!list.length) return h('p', {class: 'dim'}, 'No rule applies: nothing to recommend.');
  return h('ol', {class: 'advice', 'aria-label': 'Recommendations'}, list.map((r) => h('li', {},
    h('strong', {}, clip(r.title ?? words(r.id), 120)), ' ', figure(r, page), gain(r), h('p', {}, clip(textOf(r), 700)),
    r.detail ? h('p', {class: 'dim'}, h('bdi', {}, clip(r.detail, 400))) : null,
    h('p', {class: 'dim'}, ...links(r, page)))));
}

const UNIT = {percent: ' %', ms: ' ms'};

function figure(r, page) {
  if (!r.evidence) return null;
  const value = `${fixed(r.value, r.unit === '1' ? 0 : 1)}${UNIT[r.unit] ?? ''}`;
  return h('span', {}, link(evidenceHref(page.run, r.evidence.analysis, r.evidence.params), value), ` ${r.of ?? ''} `,
    h('span', {class: 'dim', title: r.source}, `(from ${r.threshold}${UNIT[r.unit] ?? ''} on)`));
}

const gain = (r) => (asNumber(r.gain_us) > 0 ? h('span', {class: 'dim'}, `, at most ${time(r.gain_us)} to gain, ${percent(r.gain_pct)} of the GPU span`) : null);

function links(r, page) {
  const out = [];
  if (r.evidence) out.push('Evidence: ', link(evidenceHref(page.run, r.evidence.analysis, r.evidence.params), words(r.evidence.analysis)));
  for (const e of r.events ?? []) {
    const kept = (page.info.traces ?? []).some((t) => t.id === e.trace);
    const ts = asNumber(e.ts_us);
    const name = h('bdi', {title: clip(e.name, 600)}, clip(e.display_name || `event ${e.event}`, 80));
    out.push(' · ', kept ? h('a', {href: api.eventUrl(e.trace, e.event), target: '_blank', rel: 'noopener'}, name, ` of rank ${e.rank}`) : h('span', {}, name, ` of rank ${e.rank}`));
    if (Number.isFinite(ts)) {
      out.push(' · ', link(href({run: page.run, tab: 'timeline', rank: String(e.rank), from: usText(ts - AROUND_US), to: usText(ts + AROUND_US)}, {}), 'on the timeline'));
    }
  }
  if (r.next && r.next !== r.evidence?.analysis) out.push(' · Next: ', r.next === 'timeline' ? link(href({run: page.run, tab: 'timeline'}, {}), 'timeline') : link(evidenceHref(page.run, r.next), words(r.next)));
  return out;
}

/** Rules of one reason together: what was not recorded is one thing to set, not fifteen complaints. */
function notJudged(report) {
  const reasons = new Map();
  for (const r of report.rules ?? []) {
    if (r.state !== 'cannot_answer') continue;
    const why = r.reason || 'what it needs is not in the trace';
    reasons.set(why, [...(reasons.get(why) ?? []), words(r.id)]);
  }
  if (!reasons.size) return null;
  const n = [...reasons.values()].flat().length;
  return h('details', {}, h('summary', {}, `${count(n)} of ${count(report.rules.length)} rules could not be judged`),
    h('ul', {}, [...reasons].map(([why, ids]) => h('li', {}, `${ids.join(', ')}: ${clip(why, 300)}`))));
}
