// The kernel table: every kernel name of every rank, to sort, filter and copy.

import * as api from './api.js';
import {columnOf, largest, nameCell, shareBar} from './cells.js';
import {copyButton, copyText, debounce, fill, h} from './dom.js';
import {asNumber, clip, count, percent, shortName, time} from './format.js';
import {rankSelect, windowChip, windowParams} from './filters.js';
import {classChip} from './palette.js';
import {DataTable, parseSort, sortText} from './table.js';
import {href, push, replace} from './url.js';

const NAME = ['name', 'kernel'];
const SHORT = ['short_name', 'short'];
const CLASS = ['class', 'kernel_class', 'kernel_type', 'type'];
const SUM = ['sum_us', 'total_us', 'time_us'];

/** `windowed`: only the work within the URL's window of time, if it has one. */
export async function kernelsPanel(box, page, {max, windowed}) {
  const within = windowed ? windowParams(page) : {};
  const result = await api.analysis(page.run, 'kernels', within, page.signal);
  if (page.signal.aborted) return;
  const view = new Kernels(result, page, max, windowed ? within : null);
  fill(box, view.head(), view.table.element, view.foot, result.n > 0 && result.notes.map((n) => h('p', {class: 'note'}, n)));
  view.apply();
}

class Kernels {
  constructor(result, page, max, within) {
    this.result = result;
    this.window = within; // null: the page around has a timeline, whose window is not the table's
    this.page = page;
    this.names = result.col(...NAME);
    this.shorts = result.col(...SHORT);
    this.classes = result.col(...CLASS);
    this.ranks = result.col('rank');
    this.sums = result.col(...SUM).map(asNumber);
    const {state} = page;
    this.filter = {q: state.q ?? '', re: state.re === '1', cls: new Set((state.class ?? '').split(',').filter(Boolean)), rank: state.rank ?? ''};
    const sumKey = SUM.find((k) => result.has(k));
    this.table = new DataTable(this.#columns(), {
      caption: 'Kernels', max, sort: parseSort(state.sort) ?? {key: sumKey, down: true},
      onSort: (s) => push({sort: sortText(s)}), expand: (i) => this.#detail(i),
      empty: result.n ? 'No kernel passes the filter.' : result.notes[0] ?? 'This run has no kernels.',
    });
    this.table.total = result.n;
    this.foot = h('div', {class: 'table-foot', role: 'status'});
  }

  #columns() {
    const {result} = this;
    const key = (names) => names.find((n) => result.has(n));
    const name = key(NAME);
    const skip = new Set([key(SHORT)]);
    if (result.col('names').every((n) => n === 1)) skip.add('names'); // tells nothing then
    const specs = result.specs.filter((s) => !skip.has(s.name));
    const share = this.#largestShare();
    // One unit for all columns of one call's duration: they are there to be compared with each other.
    const perCall = specs.filter((s) => s.type === 'time' && !SUM.includes(s.name));
    const long = Math.max(0, ...perCall.map((s) => largest(result.data[s.name])));
    const unit = long >= 1e6 ? {name: 'ms', per: 1e3, digits: 3} : {name: 'µs', per: 1, digits: long >= 1e3 ? 1 : 2};
    const columns = specs.map((spec) => {
      const values = result.data[spec.name];
      if (spec.name === name) return columnOf(spec, values, {key: name, label: 'Kernel', header: true, value: (i) => this.#short(i), cell: (td, i) => nameCell(td, values[i], this.#short(i), this.#rest(i))});
      if (spec.type === 'percent') return columnOf(spec, values, {width: '7.4rem', cell: (td, i) => { td.append(shareBar(values[i], share)); }});
      if (CLASS.includes(spec.name)) return columnOf(spec, values, {width: '8.7rem', cell: (td, i) => { td.append(classChip(values[i])); }});
      if (perCall.includes(spec)) return columnOf(spec, values, {width: '4.9rem', ...(spec.name === 'stddev_us' ? {label: 'Std'} : {})}, unit);
      return columnOf(spec, values, spec.name === 'rank' ? {width: '3.9rem'} : spec.name === 'calls' ? {width: '4.6rem'} : {});
    });
    const first = columns.findIndex((c) => c.key === name);
    return [columns[first], ...columns.filter((_, i) => i !== first)].filter(Boolean); // what it is, then its numbers
  }

  #largestShare() {
    const spec = this.result.specs.find((s) => s.type === 'percent');
    return spec ? Math.max(1, ...this.result.data[spec.name].slice(0, 5000).map((v) => asNumber(v) || 0)) : 100;
  }

  #short(i) { return this.shorts[i] ? clip(this.shorts[i], 160) : shortName(this.names[i]); }

  /** What tells kernels of one short name apart: the rest of the full name, template arguments and all. */
  #rest(i) {
    this.sharing ??= this.#namesByShort();
    const short = this.#short(i);
    if (!(this.sharing.get(short)?.size > 1)) return '';
    const full = String(this.names[i]);
    const at = full.indexOf(short);
    return at < 0 ? '' : full.slice(at + short.length, at + short.length + 400).replace(/\(anonymous namespace\)::|\b\w+::/g, '').slice(0, 160);
  }

  #namesByShort() {
    const out = new Map();
    for (let i = 0; i < this.result.n; i++) {
      const short = this.#short(i);
      if (!out.has(short)) out.set(short, new Set());
      out.get(short).add(this.names[i]);
    }
    return out;
  }

  #detail(i) {
    const rank = this.ranks[i];
    return h('div', {class: 'stacked'}, h('bdi', {class: 'full-name'}, clip(this.names[i], 8000)),
      h('div', {class: 'toolbar'}, copyButton('Copy name', () => String(this.names[i])),
        h('a', {class: 'button', href: href({run: this.page.run, tab: 'timeline', rank, hl: String(this.names[i]).slice(0, 200)}, {}), 'data-nav': true}, 'Find on the timeline')));
  }

  head() {
    const search = h('input', {type: 'search', placeholder: 'Filter kernels  ( / )', 'aria-label': 'Filter kernels', value: this.filter.q, size: '26', id: 'kernel-filter'});
    const regex = h('button', {type: 'button', 'aria-pressed': String(this.filter.re), title: 'Take the filter as a regular expression', class: 'mono'}, '.*');
    this.search = search;
    search.addEventListener('input', debounce(() => {
      this.filter.q = search.value;
      replace({q: search.value});
      this.apply();
    }, 60));
    regex.addEventListener('click', () => {
      this.filter.re = !this.filter.re;
      regex.setAttribute('aria-pressed', String(this.filter.re));
      push({re: this.filter.re ? '1' : ''});
      this.apply();
    });
    const params = () => ({...this.window, rank: this.filter.rank});
    const url = (format) => api.analysisUrl(this.page.run, 'kernels', {...params(), format});
    this.csv = h('a', {class: 'button quiet', href: url('csv'), download: 'kernels.csv'}, 'CSV');
    const markdown = h('button', {type: 'button', class: 'quiet', title: 'Copy the table as Markdown', onclick: async (e) => {
      const button = e.currentTarget;
      copyText(await (await fetch(url('md'))).text(), button);
    }}, 'Copy Markdown');
    return h('div', {class: 'panel-head'}, h('h2', {}, 'Kernels'), search, regex, rankSelect(this.page, 'Rank', (rank) => {
      this.filter.rank = rank;
      this.csv.href = url('csv');
      this.apply();
    }), this.#classButtons(), this.window && windowChip(this.page),
      h('span', {class: 'end'}, this.csv, markdown));
  }

  #classButtons() {
    const all = [...new Set(this.classes)].filter(Boolean);
    if (all.length < 2) return null;
    return h('span', {class: 'toolbar', role: 'group', 'aria-label': 'Kernel classes'}, all.map((c) => {
      const button = h('button', {type: 'button', 'aria-pressed': String(this.filter.cls.has(c))}, classChip(c));
      button.addEventListener('click', () => {
        if (!this.filter.cls.delete(c)) this.filter.cls.add(c);
        button.setAttribute('aria-pressed', String(this.filter.cls.has(c)));
        push({class: [...this.filter.cls].join(',')});
        this.apply();
      });
      return button;
    }));
  }

  #matcher() {
    const {q, re} = this.filter;
    this.search.removeAttribute('aria-invalid');
    this.search.title = '';
    if (!q) return () => true;
    if (re) {
      try {
        const r = new RegExp(q, 'iu');
        return (s) => r.test(s);
      } catch (e) {
        this.search.setAttribute('aria-invalid', 'true');
        this.search.title = e.message;
        return () => true;
      }
    }
    const low = q.toLowerCase();
    return (s) => s.toLowerCase().includes(low);
  }

  apply() {
    const {rank, cls} = this.filter;
    const match = this.#matcher();
    const rows = [];
    let inRank = 0;
    let all = 0;
    for (let i = 0; i < this.result.n; i++) {
      if (rank !== '' && String(this.ranks[i]) !== rank) continue;
      inRank++;
      all += this.sums[i] || 0;
      if (cls.size && !cls.has(this.classes[i])) continue;
      if (match(String(this.names[i]))) rows.push(i);
    }
    const sum = rows.reduce((n, i) => n + (this.sums[i] || 0), 0);
    this.table.setRows(rows);
    const part = all > 0 ? `, ${percent((100 * sum) / all)} of the kernel time${rank === '' ? '' : ` of rank ${rank}`}` : '';
    fill(this.foot, h('span', {}, `${count(rows.length)} of ${count(inRank)} rows`), h('span', {}, `${time(sum)}${part}`),
      this.search.getAttribute('aria-invalid') ? h('span', {class: 'severity error'}, `No regular expression: ${this.search.title}`) : null);
  }
}
