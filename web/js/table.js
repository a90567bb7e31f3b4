// A sortable table that stays quick with 100 000 rows: a real <table>, of which only the rows in sight are in the page.
// Rows are numbers (positions in the caller's data); the caller says what a cell shows and what it sorts by.

import {fill, h} from './dom.js';
import {count} from './format.js';

const ROW = 26;     // px, as in table.css
const WHOLE = 120;  // up to so many rows all of them are put into the page
const MARGIN = 12;  // rows above and below the visible part

/** "-sum_us" ↔ {key: 'sum_us', down: true}. */
export const parseSort = (text) => (text ? {key: text.replace(/^-/, ''), down: text.startsWith('-')} : null);
export const sortText = ({key, down}) => (down ? '-' : '') + key;

/** Ascending or descending; what has no value (null, NaN, '') is last in both. Ties keep the order of the data. */
export function order(rows, value, down) {
  const keys = new Map(rows.map((r) => [r, value(r)]));
  const none = (v) => v === null || v === undefined || v === '' || Number.isNaN(v);
  const sign = down ? -1 : 1;
  const collator = new Intl.Collator('en', {numeric: true});
  return [...rows].sort((a, b) => {
    const x = keys.get(a);
    const y = keys.get(b);
    if (none(x) || none(y)) return none(x) - none(y) || a - b;
    const c = typeof x === 'number' && typeof y === 'number' ? x - y : collator.compare(x, y);
    return sign * c || a - b;
  });
}

/** Columns of given width, and room for what is in the others; a narrower window scrolls sideways. */
function leastWidth(columns) {
  return `${columns.reduce((rem, c) => rem + (c.width ? parseFloat(c.width) : c.room ?? (c.header ? 17 : 9)), 0)}rem`;
}

/**
 * columns: {key, label, title, unit, numeric, width (rem), value(row) to sort by, cell(td, row) fills the cell,
 *           header: true for the cell that names the row, room (rem) for a column without a width}; no label: actions
 * options: {caption, sort: {key, down}, onSort(sort), expand(row) → Node, empty: sentence, max: CSS height}
 */
export class DataTable {
  constructor(columns, options) {
    this.columns = columns;
    this.options = options;
    this.sort = options.sort ?? null;
    this.rows = [];
    this.order = [];
    this.open = null;       // the row whose detail is shown
    this.openHeight = 0;
    this.head = h('tr', {}, columns.map((c) => this.#header(c)));
    this.body = h('tbody');
    this.table = h('table', {class: 'data', style: {'min-width': leastWidth(columns)}},
      h('caption', {class: 'sr'}, options.caption),
      h('colgroup', {}, columns.map((c) => h('col', {style: c.width ? {width: c.width} : {}}))),
      h('thead', {}, this.head), this.body);
    this.element = h('div', {class: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': options.caption, style: {'max-height': options.max ?? '70vh'}}, this.table);
    this.element.addEventListener('scroll', () => this.#draw(), {passive: true});
    this.element.addEventListener('keydown', (e) => this.#key(e));
    this.#mark();
  }

  #header(c) {
    if (!c.label) return h('th', {scope: 'col'}, h('span', {class: 'sr'}, 'Actions'));
    const unit = c.unit ? h('span', {class: 'unit'}, c.unit) : null;
    const button = h('button', {type: 'button', class: 'sort', title: c.title, onclick: () => this.#sortBy(c)},
      h('span', {}, c.label), unit, h('span', {class: 'arrow', 'aria-hidden': 'true'}));
    return h('th', {scope: 'col', class: c.numeric ? 'num' : null, 'data-key': c.key}, button);
  }

  #sortBy(c) {
    const same = this.sort?.key === c.key;
    this.sort = {key: c.key, down: same ? !this.sort.down : Boolean(c.numeric)};
    this.options.onSort?.(this.sort);
    this.#mark();
    this.#arrange();
  }

  #mark() {
    for (const th of this.head.children) {
      const on = th.dataset.key === this.sort?.key;
      if (on) th.setAttribute('aria-sort', this.sort.down ? 'descending' : 'ascending');
      else th.removeAttribute('aria-sort');
    }
  }

  setRows(rows) {
    this.rows = rows;
    if (!rows.includes(this.open)) this.open = null;
    this.#arrange();
  }

  #arrange() {
    const c = this.columns.find((x) => x.key === this.sort?.key);
    this.order = c ? order(this.rows, c.value, this.sort.down) : this.rows;
    this.table.setAttribute('aria-rowcount', String(this.order.length + 1));
    this.drawn = null;
    this.#draw();
  }

  /** The first row in sight and one past the last. */
  #window() {
    const n = this.order.length;
    if (n <= WHOLE) return [0, n];
    const at = this.open === null ? -1 : this.order.indexOf(this.open);
    const detail = at >= 0 && this.element.scrollTop > at * ROW ? this.openHeight : 0;
    const first = Math.floor(Math.max(0, this.element.scrollTop - detail) / ROW) - MARGIN;
    const rows = Math.ceil((this.element.clientHeight || 800) / ROW) + 2 * MARGIN;
    return [Math.max(0, Math.min(first, n - rows)), Math.min(n, Math.max(0, first) + rows)];
  }

  #draw() {
    const [first, last] = this.#window();
    if (this.drawn && this.drawn[0] === first && this.drawn[1] === last && this.drawn[2] === this.open) return;
    this.drawn = [first, last, this.open];
    const focused = this.body.contains(document.activeElement) ? document.activeElement.dataset.row : undefined;
    const out = [];
    if (first > 0) out.push(this.#spacer(first * ROW + (this.#openAt() < first && this.open !== null ? this.openHeight : 0)));
    for (let i = first; i < last; i++) {
      out.push(this.#row(this.order[i], i));
      if (this.order[i] === this.open) out.push(this.#detail());
    }
    if (last < this.order.length) out.push(this.#spacer((this.order.length - last) * ROW));
    if (!this.order.length) out.push(h('tr', {class: 'none'}, h('td', {colspan: String(this.columns.length)}, this.options.empty ?? 'Nothing to show.')));
    fill(this.body, out);
    if (focused !== undefined) this.body.querySelector(`[data-row="${focused}"]`)?.focus({preventScroll: true});
    const detail = this.body.querySelector('.detail');
    if (detail) this.openHeight = detail.offsetHeight;
  }

  #openAt() { return this.open === null ? Infinity : this.order.indexOf(this.open); }

  #spacer(px) {
    return h('tr', {'aria-hidden': 'true', class: 'space', style: {height: `${px}px`}}, h('td', {colspan: String(this.columns.length)}));
  }

  #row(row, i) {
    const tr = h('tr', {'aria-rowindex': String(i + 2), class: row === this.open ? 'open' : null});
    for (const c of this.columns) {
      const cell = c.header ? h('th', {scope: 'row', class: c.numeric ? 'num' : null}) : h('td', {class: c.numeric ? 'num' : null});
      if (c.header && this.options.expand) {
        const button = h('button', {type: 'button', class: 'expand', 'data-row': String(row), 'aria-expanded': String(row === this.open), onclick: () => this.toggle(row)});
        c.cell(button, row);
        cell.append(button);
      } else c.cell(cell, row);
      tr.append(cell);
    }
    return tr;
  }

  #detail() {
    return h('tr', {class: 'detail'}, h('td', {colspan: String(this.columns.length)}, this.options.expand(this.open)));
  }

  toggle(row) {
    this.open = this.open === row ? null : row;
    this.options.onOpen?.(this.open);
    this.#draw();
  }

  /** Up and down (or k and j) walk through the rows, Home and End go to the ends. */
  #key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || !this.options.expand) return;
    const step = {ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9}[e.key];
    if (!step || !this.order.length) return;
    const now = this.order.indexOf(Number(document.activeElement?.dataset?.row ?? -1));
    const next = Math.max(0, Math.min(this.order.length - 1, now < 0 ? 0 : now + step));
    e.preventDefault();
    this.show(next);
    this.body.querySelector(`[data-row="${this.order[next]}"]`)?.focus({preventScroll: true});
  }

  /** Scrolls so that the row at this place of the order is in sight. */
  show(place) {
    const top = place * ROW;
    const box = this.element;
    const head = this.table.tHead.offsetHeight;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + ROW > box.scrollTop + box.clientHeight - head) box.scrollTop = top + ROW - box.clientHeight + head;
    this.#draw();
  }

  get summary() { return `${count(this.order.length)} of ${count(this.total ?? this.rows.length)}`; }
}
