// What the timeline knows: a coarse picture of the whole run, from which the lanes and the minimap come, and finer tiles
// of what is in sight. A tile is 2^level ns wide and starts at a multiple of that, so panning never moves a bin and every
// tile asked for once serves again. Tiles are asked for by groups of ranks: 64 ranks cost no more than the visible ones.

import * as api from './api.js';
import {debounce} from './dom.js';
import {asNumber, usText} from './format.js';
import {causeKey, classKey, cpuKey} from './palette.js';

const BINS = 1024;       // bins in a tile, and in the coarse picture of a few ranks
const WHOLE = 2;         // bins that an event must fill to stand whole
const GROUP = 8;         // ranks in a request
const KEEP = 240;        // tiles kept
const QUIET = 70;        // ms without a change before the server is asked

export const KIND = {busy: 0, event: 1, idle: 2};
const KIND_OF = {bin: KIND.busy, event: KIND.event, idle: KIND.idle};

/** Spans of one lane, ascending by start; index i of every array is one span. `row` points into `result`. */
class Spans {
  constructor() {
    this.start = [];
    this.end = [];
    this.kind = [];
    this.key = [];   // of the class; of a gap, of its cause
    this.cause = []; // of a bin's idle part; null without one
    this.share = []; // busy, 0 … 1
    this.row = [];
    this.longest = 0; // of the spans: how far before a time one must look for a span that holds it
  }

  get n() { return this.start.length; }

  add(row, start, end, kind, key, cause, pct) {
    this.start.push(start);
    this.end.push(end);
    this.kind.push(kind);
    this.key.push(kind === KIND.idle ? causeKey(cause) : key);
    this.cause.push(cause === null || cause === undefined ? null : causeKey(cause));
    this.share.push(Number.isFinite(pct) ? pct / 100 : 1);
    this.row.push(row);
    this.longest = Math.max(this.longest, end - start);
  }

  /** The first span that may reach to `us` or beyond. */
  from(us) {
    let low = 0;
    let high = this.n;
    const limit = us - this.longest;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.start[mid] < limit) low = mid + 1;
      else high = mid;
    }
    return low;
  }
}

/**
 * Sorts a result's rows into lanes: {lanes, steps, result}, both maps in the server's order. A lane is
 * {key, rank, group, kind, name, depth, first, last, spans}; CPU threads have one lane per depth of the call stack. Two
 * traces of one rank announce the same lane twice: the second one is a lane, and a group, of its own.
 */
export function digest(result) {
  const get = {};
  for (const c of ['rank', 'lane', 'lane_kind', 'lane_name', 'depth', 'kind', 'start_us', 'end_us', 'class', 'busy_pct', 'cause']) get[c] = result.col(c);
  const lanes = new Map();
  const steps = new Map();
  const times = new Map(); // lane and depth → how often it was announced
  for (let i = 0; i < result.n; i++) {
    const depth = asNumber(get.depth[i]) || 0;
    const id = depth ? `${get.lane[i]}#${depth}` : String(get.lane[i]);
    const announced = get.kind[i] === 'lane';
    if (announced) times.set(id, (times.get(id) ?? 0) + 1);
    const again = (times.get(id) ?? 1) > 1 ? `(${times.get(id)})` : '';
    const kind = get.lane_kind[i];
    const group = `${get.rank[i]}${again}`;
    const into = kind === 'steps' ? steps : lanes;
    const key = kind === 'steps' ? group : id + again;
    let lane = into.get(key);
    if (!lane) into.set(key, lane = {key, rank: String(get.rank[i]), group, kind, gpu: kind === 'gpu', name: String(get.lane_name[i] ?? ''), depth, spans: new Spans()});
    const start = asNumber(get.start_us[i]);
    const end = asNumber(get.end_us[i]);
    if (announced) {
      lane.first = start;
      lane.last = end;
    } else lane.spans.add(i, start, end, KIND_OF[get.kind[i]] ?? KIND.event, kind === 'cpu' ? cpuKey(get.class[i]) : classKey(get.class[i]), get.cause[i], asNumber(get.busy_pct[i]));
  }
  for (const lane of [...lanes.values(), ...steps.values()]) inOrder(lane.spans);
  return {result, lanes, steps};
}

function inOrder(s) {
  let sorted = true;
  for (let i = 1; i < s.n && sorted; i++) sorted = s.start[i - 1] <= s.start[i];
  if (sorted) return;
  const by = [...s.start.keys()].sort((a, b) => s.start[a] - s.start[b]);
  for (const field of ['start', 'end', 'kind', 'key', 'cause', 'share', 'row']) s[field] = by.map((i) => s[field][i]);
}

export class TimelineData {
  /** `changed()` is called when there is more to draw, `failed(sentence)` when the server refuses. */
  constructor(run, signal, changed, failed) {
    this.run = run;
    this.signal = signal;
    this.changed = changed;
    this.failed = failed;
    this.tiles = new Map();   // key → {from, to, digest}; in order of use
    this.pending = new Map(); // key → AbortController
    this.lanesParam = 'gpu';
    this.fetchSoon = debounce(() => this.#fetch(), QUIET);
    signal.addEventListener('abort', () => { this.fetchSoon.cancel(); for (const c of this.pending.values()) c.abort(); });
  }

  /** The coarse picture of the whole run, the coarser the more ranks there are: {lanes, steps, from, to}. */
  async load(lanes, ranks) {
    this.rootBins = Math.max(128, Math.min(BINS, Math.floor((BINS * GROUP) / ranks)));
    this.lanesParam = lanes;
    this.tiles.clear();
    for (const c of this.pending.values()) c.abort();
    this.pending.clear();
    this.root = digest(await api.analysis(this.run, 'timeline', {px: this.rootBins, min_px: WHOLE, lanes}, this.signal));
    let from = Infinity;
    let to = -Infinity;
    for (const {first, last} of [...this.root.lanes.values(), ...this.root.steps.values()]) {
      if (first < from) from = first;
      if (last > to) to = last;
    }
    this.from = Number.isFinite(from) ? from : 0;
    this.to = to > this.from ? to : this.from + 1;
    return this;
  }

  /** Level whose bins are between one and two pixels wide. */
  #level(spanUs, px) {
    return Math.max(10, Math.min(52, Math.ceil(Math.log2((spanUs * 1000 * BINS) / px))));
  }

  /** Says what is in sight; what is missing is asked for once things are quiet, what is no longer needed is dropped. */
  want(fromUs, toUs, px, ranks) {
    const level = this.#level(toUs - fromUs, px);
    this.level = level;
    const width = 2 ** level;
    const groups = new Set(ranks.map((r) => this.groupOf(r)));
    const coarse = (this.to - this.from) / this.rootBins <= width / 1000 / BINS; // the whole picture is as fine already
    this.needed = [];
    if (coarse) return;
    for (let i = Math.floor((fromUs * 1000) / width); i <= Math.floor((toUs * 1000) / width); i++) {
      for (const g of groups) this.needed.push({key: `${level}/${i}/${g}`, level, i, g});
    }
    for (const [key, controller] of this.pending) {
      if (!this.needed.some((t) => t.key === key)) { controller.abort(); this.pending.delete(key); }
    }
    if (this.needed.some((t) => !this.tiles.has(t.key) && !this.pending.has(t.key))) this.fetchSoon();
  }

  setRanks(ranks) {
    this.ranks = ranks;
    this.place = new Map(ranks.map((r, i) => [r, Math.floor(i / GROUP)]));
  }

  groupOf(rank) { return this.place.get(String(rank)) ?? 0; }

  #fetch() {
    for (const t of this.needed) {
      if (this.tiles.has(t.key) || this.pending.has(t.key)) continue;
      const width = 2 ** t.level;
      const from = (t.i * width) / 1000;
      const to = ((t.i + 1) * width) / 1000;
      if (to <= this.from || from >= this.to) continue;
      const controller = new AbortController();
      this.pending.set(t.key, controller);
      const rank = this.ranks.slice(t.g * GROUP, (t.g + 1) * GROUP).join(',');
      const params = {from: usText(from), to: usText(to), px: BINS, min_px: WHOLE, lanes: this.lanesParam, rank};
      api.ask(this.run, 'timeline', params, controller.signal).then((result) => {
        this.#keep(t.key, {from, to, digest: digest(result)});
        this.changed();
      }, (e) => {
        if (e.name !== 'AbortError') this.failed(e.message);
      }).finally(() => { if (this.pending.get(t.key) === controller) this.pending.delete(t.key); });
    }
  }

  #keep(key, tile) {
    this.tiles.set(key, tile);
    if (this.tiles.size > KEEP) this.tiles.delete(this.tiles.keys().next().value);
  }

  get loading() { return this.pending.size > 0; }

  /**
   * The finest pieces there are for [from, to) of a lane, in order: {spans, from, to, result}. Where a tile is still
   * missing, one of its coarser ancestors stands in, in the end the whole picture.
   */
  pieces(lane, fromUs, toUs) {
    const out = [];
    const root = this.root;
    const width = 2 ** (this.level ?? 52);
    if (!this.needed?.length) return [{spans: root.lanes.get(lane.key)?.spans, from: fromUs, to: toUs, result: root.result}].filter((p) => p.spans);
    const g = this.groupOf(lane.rank);
    for (let i = Math.floor((fromUs * 1000) / width); i <= Math.floor((toUs * 1000) / width); i++) {
      const from = Math.max(fromUs, (i * width) / 1000);
      const to = Math.min(toUs, ((i + 1) * width) / 1000);
      const d = this.#best(i, g) ?? root;
      const spans = d.lanes.get(lane.key)?.spans;
      if (spans && to > from) out.push({spans, from, to, result: d.result});
    }
    return out;
  }

  #best(i, g) {
    for (let level = this.level, at = i; level <= 52 && level < this.level + 12; level++, at = Math.floor(at / 2)) {
      const tile = this.tiles.get(`${level}/${at}/${g}`);
      if (tile) {
        this.tiles.delete(`${level}/${at}/${g}`); // used now: last in the order
        this.tiles.set(`${level}/${at}/${g}`, tile);
        return tile.digest;
      }
    }
    return null;
  }

  /** The span of a lane at a time, or the nearest within `slack` µs: {lane, start, end, kind, key, cause, share, row, result}. */
  at(lane, us, slack = 0) {
    let best = null;
    let distance = Infinity;
    for (const p of this.pieces(lane, us - slack, us + slack + 0.001)) {
      const s = p.spans;
      for (let i = s.from(us - slack); i < s.n && s.start[i] <= us + slack; i++) {
        const d = us < s.start[i] ? s.start[i] - us : us >= s.end[i] ? us - s.end[i] : 0;
        if (d > slack) continue;
        // Under one point: work before gaps, the shorter before the longer, as that is what is drawn on top.
        const rank = d + (s.kind[i] === KIND.idle ? slack / 2 + 1e-6 : 0) + (s.end[i] - s.start[i]) * 1e-12;
        if (rank < distance) { distance = rank; best = spanOf(lane, p, i); }
      }
    }
    return best;
  }

  /** The span of a lane that starts at this time, to the nanosecond; null if there is none. */
  starting(lane, us) {
    for (const p of this.pieces(lane, us - 0.001, us + 0.001)) {
      for (let i = p.spans.from(us); i < p.spans.n && p.spans.start[i] < us + 0.001; i++) {
        if (Math.abs(p.spans.start[i] - us) < 0.0005) return spanOf(lane, p, i);
      }
    }
    return null;
  }

  /** The span whose start is the next after (1) or before (-1) a time, no further than `reach`. */
  next(lane, us, direction, reach) {
    let best = null;
    for (const p of this.pieces(lane, us - reach, us + reach)) {
      for (let i = p.spans.from(p.from); i < p.spans.n && p.spans.start[i] < p.to; i++) {
        const d = (p.spans.start[i] - us) * direction;
        if (d > 0.0005 && (!best || d < (best.start - us) * direction)) best = spanOf(lane, p, i);
      }
    }
    return best;
  }
}

function spanOf(lane, {spans: s, result}, i) {
  return {lane, start: s.start[i], end: s.end[i], kind: s.kind[i], key: s.key[i], cause: s.cause[i], share: s.share[i], row: s.row[i], result};
}
