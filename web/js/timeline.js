// The idle timeline: who was busy with what, who waited and why. This file holds the state and the page around the
// canvas; timeline-draw.js and timeline-mini.js draw, timeline-data.js knows, timeline-input.js listens,
// timeline-pin.js shows details.

import {debounce, fill, h} from './dom.js';
import {asNumber, time, usText} from './format.js';
import {rankSelect} from './filters.js';
import {keyLabel, legend, patterns, theme} from './palette.js';
import {TimelineData} from './timeline-data.js';
import {draw, GUTTER, layout, RULER} from './timeline-draw.js';
import {listen} from './timeline-input.js';
import {drawMini, MINI} from './timeline-mini.js';
import {showPin, tip} from './timeline-pin.js';
import {href, push, replace} from './url.js';

const BUSY = ['compute', 'comm', 'memory', 'other'];
const CAUSES = ['host', 'wait', 'gap'];
const CPU = ['op', 'runtime', 'annotation', 'python'];
const SHORTEST = 0.02; // µs: the narrowest window

export async function timelinePanel(box, page, {tall}) {
  const timeline = new Timeline(box, page, tall);
  await timeline.start();
}

class Timeline {
  constructor(box, page, tall) {
    this.box = box;
    this.page = page;
    this.tall = tall;
    this.lanes = page.state.lanes === 'all' ? 'all' : 'gpu';
    this.rank = page.state.rank ?? '';
    this.highlight = page.state.hl ?? '';
    this.hover = null;
    this.pin = null;
    this.range = null;
    this.labels = Object.fromEntries(CAUSES.map((k) => [k, keyLabel(k)]));
    this.data = new TimelineData(page.run, page.signal, () => { this.findPin(); this.dirty(); }, (sentence) => this.tell(sentence));
    this.saveSoon = debounce(() => this.save(), 180);
  }

  async start() {
    await this.data.load(this.lanes, this.page.ranks.length);
    if (this.lanes === 'gpu' && this.data.root.lanes.size === 0) { // a trace without a device: its threads are all there is
      this.lanes = 'all';
      await this.data.load(this.lanes, this.page.ranks.length);
    }
    if (this.page.signal.aborted) return;
    this.build();
    this.arrange();
    const {from, to} = this.page.state;
    this.view = {from: this.data.from, to: this.data.to};
    this.fitAll();
    if (Number.isFinite(asNumber(from)) && Number.isFinite(asNumber(to)) && asNumber(to) > asNumber(from)) this.set(asNumber(from), asNumber(to), false);
    this.findPin();
    this.resize();
  }

  // ---- the page around it ----

  build() {
    const button = (label, title, act) => h('button', {type: 'button', title, 'aria-label': title, onclick: act}, label);
    this.canvas = h('canvas', {class: 'tl-canvas', role: 'img', 'aria-label': 'Timeline of the run, a lane per rank and stream. The tabs Kernels and Idle have the same as tables.'});
    this.mini = h('canvas', {class: 'tl-mini', 'aria-hidden': 'true'});
    this.space = h('div', {class: 'tl-space'});
    this.scroller = h('div', {class: 'tl-box', tabindex: '0', role: 'application', 'aria-roledescription': 'timeline', 'aria-label': 'Timeline: w and s zoom, a and d move, comma and full stop walk from event to event'}, this.canvas, this.space);
    this.window = h('span', {class: 'tl-window'});
    this.tip = h('div', {class: 'tl-tip', role: 'tooltip', hidden: true});
    this.details = h('div', {class: 'tl-pin', hidden: true});
    this.message = h('span', {class: 'severity error', role: 'alert'});
    this.live = h('span', {class: 'sr', role: 'status'});
    const cpu = h('input', {type: 'checkbox', checked: this.lanes === 'all', onchange: (e) => this.setLanes(e.target.checked ? 'all' : 'gpu')});
    fill(this.box, h('div', {class: 'tl'},
      h('div', {class: 'panel-head'}, h('h2', {}, 'Timeline'), rankSelect(this.page, 'Rank of the timeline', (rank) => {
        this.rank = rank;
        this.arrange();
        this.resize();
      }), h('label', {class: 'field'}, cpu, 'CPU threads'), this.highlightChip(),
        h('span', {class: 'end'}, this.window, this.kernelsLink(),
          button('◂', 'Earlier (a)', () => this.pan(-0.3)), button('▸', 'Later (d)', () => this.pan(0.3)),
          button('−', 'Zoom out (s)', () => this.zoom(2)), button('+', 'Zoom in (w)', () => this.zoom(0.5)), button('Whole run', 'Show the whole run (0)', () => this.whole()))),
      this.mini, this.scroller, this.tip, this.details,
      h('div', {class: 'tl-foot'}, this.legend = h('div', {}, legend([...BUSY, ...CAUSES])), this.message, this.live,
        h('span', {}, this.tall ? 'Wheel zooms, drag selects a range, shift and drag moves, click pins.' : 'Drag selects a range, click pins; click it once, or hold ctrl, to zoom with the wheel.')),
      this.data.root.result.notes.map((n) => h('p', {class: 'note'}, n))));
    this.repaintTheme();
    const {signal} = this.page;
    new ResizeObserver(() => this.resize()).observe(this.scroller);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { this.repaintTheme(); this.dirty(); }, {signal});
    listen(this, signal);
  }

  /** To the kernel table of just what is in sight. */
  kernelsLink() {
    const a = h('a', {class: 'button quiet', 'data-nav': true, href: '#'}, 'Kernels in sight');
    const aim = () => { a.href = href({run: this.page.run, tab: 'kernels', rank: this.rank, from: usText(this.view.from), to: usText(this.view.to)}, {}); };
    for (const type of ['pointerenter', 'focus', 'click']) a.addEventListener(type, aim);
    return a;
  }

  highlightChip() {
    if (!this.highlight) return null;
    return h('button', {type: 'button', 'aria-pressed': 'true', class: 'mono', title: this.highlight.slice(0, 500), onclick: (e) => {
      this.highlight = '';
      replace({hl: ''});
      e.currentTarget.remove();
      this.dirty();
    }}, `only ${this.highlight.slice(0, 40)}  ✕`);
  }

  async setLanes(lanes) {
    this.lanes = lanes;
    push({lanes: lanes === 'all' ? 'all' : ''});
    try {
      await this.data.load(lanes, this.page.ranks.length);
      this.arrange();
      this.resize();
    } catch (e) {
      if (e.name !== 'AbortError') this.tell(e.message);
    }
  }

  tell(sentence) { this.message.textContent = sentence; }

  repaintTheme() {
    this.theme = theme();
    this.patterns = patterns(this.canvas.getContext('2d'), this.theme.colours, devicePixelRatio || 1);
  }

  // ---- lanes, window ----

  arrange() {
    const {data} = this;
    const all = [...data.root.lanes.values()];
    const shown = this.rank === '' ? all : all.filter((l) => l.rank === this.rank);
    const devices = new Set(all.filter((l) => l.gpu).map((l) => l.key.replace(/\/[^/]*$/, '')));
    this.manyDevices = devices.size > new Set(all.map((l) => l.group)).size;
    data.setRanks([...new Set(all.map((l) => l.rank))]);
    this.shown = shown;
    fill(this.legend, legend(this.lanes === 'all' ? [...BUSY, ...CAUSES, ...CPU] : [...BUSY, ...CAUSES]));
    this.miniBusy = null; // timeline-mini.js keeps its sums here
  }

  resize() {
    const width = Math.max(300, this.scroller.clientWidth);
    const most = this.tall ? Math.max(260, innerHeight - 330) : 420;
    const {rows, height: lanesHeight} = layout(this.shown, this.data.root.steps, this.tall ? most - RULER : 0);
    this.rows = rows;
    const want = lanesHeight + RULER;
    const height = Math.max(90, Math.min(want, most));
    this.scroller.style.height = `${height}px`;
    this.width = width;
    this.height = height;
    this.space.style.height = `${Math.max(0, want - height)}px`;
    for (const [canvas, w, hh] of [[this.canvas, width, height], [this.mini, width, MINI]]) {
      const ratio = devicePixelRatio || 1;
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(hh * ratio);
      canvas.style.height = `${hh}px`;
    }
    if (this.ratio !== devicePixelRatio) { this.ratio = devicePixelRatio; this.repaintTheme(); }
    this.dirty();
  }

  fitAll() {
    const edge = (this.data.to - this.data.from) * 0.005;
    this.view = {from: this.data.from - edge, to: this.data.to + edge};
  }

  whole() { this.fitAll(); this.changed(); }

  /** Sets the window, kept near the run and not narrower than the clock can tell. */
  set(from, to, save = true) {
    const {data} = this;
    const most = (data.to - data.from) * 1.5;
    const span = Math.max(SHORTEST, Math.min(most, to - from));
    const middle = (from + to) / 2;
    let a = span === to - from ? from : middle - span / 2;
    a = Math.max(data.from - span / 2, Math.min(data.to - span / 2, a));
    this.view = {from: a, to: a + span};
    if (save) this.changed();
  }

  changed() {
    this.saveSoon();
    this.dirty();
  }

  save() {
    if (this.page.signal.aborted) return;
    const whole = this.view.from <= this.data.from && this.view.to >= this.data.to;
    replace(whole ? {from: '', to: ''} : {from: usText(this.view.from), to: usText(this.view.to)});
    this.live.textContent = `Shown: ${time(this.view.to - this.view.from)} from ${time(this.view.from)}`;
  }

  zoom(factor, at = (this.view.from + this.view.to) / 2) {
    const {from, to} = this.view;
    if (factor > 1 && (to - from) * factor > (this.data.to - this.data.from) * 1.01) return this.whole();
    return this.set(at - (at - from) * factor, at + (to - at) * factor);
  }

  pan(share) {
    const by = (this.view.to - this.view.from) * share;
    this.set(this.view.from + by, this.view.to + by);
  }

  timeAt(px) { return this.view.from + ((px - GUTTER) / (this.width - GUTTER)) * (this.view.to - this.view.from); }

  get usPerPx() { return (this.view.to - this.view.from) / (this.width - GUTTER); }

  rowAt(py) {
    const y = py - RULER + this.scroller.scrollTop;
    return py < RULER ? null : this.rows.find((r) => y >= r.y && y < r.y + r.h) ?? null;
  }

  hit(px, py) {
    const row = this.rowAt(py);
    if (px < GUTTER || !row?.lane) return null;
    return this.data.at(row.lane, this.timeAt(px), this.usPerPx * 2);
  }

  // ---- what is pinned ----

  setPin(span, save = true) {
    this.pin = span;
    showPin(this, span);
    if (save) replace({sel: span ? `${span.lane.key}@${usText(span.start)}` : ''});
    this.dirty();
  }

  /** The pinned span of the URL, as soon as there is data that has it. */
  findPin() {
    const {sel} = this.page.state;
    if (this.pin || !sel || !this.details) return;
    const at = sel.lastIndexOf('@');
    const lane = this.data.root.lanes.get(sel.slice(0, at));
    const span = lane && this.data.starting(lane, asNumber(sel.slice(at + 1)));
    if (!span) return;
    this.page.state = {...this.page.state, sel: ''};
    this.setPin(span, false);
  }

  /** The next or previous span of the pinned lane (or of the first one), moved into sight. */
  walk(direction) {
    const lane = this.pin?.lane ?? this.rows.find((r) => r.lane)?.lane;
    if (!lane) return;
    const reach = this.view.to - this.view.from;
    const span = this.data.next(lane, this.pin ? this.pin.start : this.view.from, direction, reach);
    if (!span) return;
    const middle = (span.start + span.end) / 2;
    if (middle < this.view.from || middle > this.view.to) this.set(middle - reach / 2, middle + reach / 2);
    this.setPin(span);
  }

  step(direction) {
    const band = this.rows.find((r) => r.steps)?.steps.spans;
    if (!band) return;
    const middle = (this.view.from + this.view.to) / 2;
    let i = -1;
    while (i + 1 < band.n && band.start[i + 1] <= middle) i++;
    const inside = i >= 0 && this.view.from >= band.start[i] - 1 && this.view.to - this.view.from < 3 * (band.end[i] - band.start[i]);
    const next = Math.max(0, Math.min(band.n - 1, inside ? i + direction : Math.max(0, i)));
    const edge = (band.end[next] - band.start[next]) * 0.01;
    this.set(band.start[next] - edge, band.end[next] + edge);
  }

  // ---- drawing ----

  dirty() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      if (!this.page.signal.aborted && this.width) this.paint();
    });
  }

  paint() {
    const ratio = devicePixelRatio || 1;
    this.scroll = this.scroller.scrollTop;
    const ctx = this.canvas.getContext('2d');
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const ranks = this.visibleRanks();
    this.data.want(this.view.from, this.view.to, this.width - GUTTER, ranks);
    draw(ctx, this);
    const mini = this.mini.getContext('2d');
    mini.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawMini(mini, this);
    this.window.textContent = `${time(this.view.to - this.view.from)} from ${time(this.view.from)}${this.data.loading ? ' …' : ''}`;
    this.scroller.dataset.loading = String(this.data.loading); // for tests and styles: whether finer tiles are on their way
  }

  visibleRanks() {
    const top = this.scroll;
    const bottom = this.scroll + this.height - RULER;
    return [...new Set(this.rows.filter((r) => r.lane && r.y + r.h > top && r.y < bottom).map((r) => r.lane.rank))];
  }

  showTip(span, px, py) { tip(this, span, px, py); }
}
