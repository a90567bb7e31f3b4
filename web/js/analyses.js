// Every analysis of the registry, with a form made from its parameters and a table made from its columns.

import * as api from './api.js';
import {columnOf} from './cells.js';
import {copyButton, fill, h} from './dom.js';
import {clip, count, plural, title, unitLabel, words} from './format.js';
import {guard} from './guard.js';
import {DataTable, parseSort, sortText} from './table.js';
import {go, href, replace} from './url.js';

const PREFIX = 'p.';

export async function analysesTab(box, page) {
  const list = await api.analyses(page.signal);
  if (page.signal.aborted) return;
  if (!list.length) throw new api.Problem('The server tells of no analyses.');
  const current = await withOther(list.find((a) => a.name === page.state.a) ?? list[0], page);
  if (page.signal.aborted) return;
  const result = h('div', {class: 'stacked'});
  const nav = h('nav', {class: 'panel panel-body', 'aria-label': 'Analyses'}, list.map((a) => h('a', {
    href: href({run: page.run, tab: 'analyses', rank: page.state.rank, a: a.name}, {}), 'data-nav': true, 'aria-current': a.name === current.name ? 'page' : null,
    title: a.summary,
  }, title(words(a.name)))));
  fill(box, h('div', {class: 'analyses'}, nav, h('div', {class: 'stacked'}, about(current, page), result)));
  await guard(result, page.signal, () => show(result, current, page));
}

/** One that compares two runs has the other run as its first parameter: a choice of those in the store. */
async function withOther(a, page) {
  if (!a.two_runs) return a;
  const names = (await api.runs(page.signal)).map((r) => r.name).filter((name) => name !== page.run);
  const other = {name: 'other', type: 'text', choices: [...names, page.run], default: null, doc: 'the run to compare with; this one is the base'};
  return {...a, params: [other, ...(a.params ?? [])]};
}

/** Parameters in the URL: "p.px=300"; rank, from and to are the page's own, common to all tabs. */
const SHARED = new Set(['rank', 'from', 'to']);
const stateKey = (name) => (SHARED.has(name) ? name : PREFIX + name);
const given = (a, state) => Object.fromEntries((a.params ?? []).map((p) => [p.name, state[stateKey(p.name)]]).filter(([, v]) => v !== undefined && v !== ''));

function about(a, page) {
  return h('section', {class: 'panel'},
    h('div', {class: 'panel-head'}, h('h2', {}, title(words(a.name))), h('span', {class: 'dim'}, a.summary)),
    h('div', {class: 'panel-body stacked'}, form(a, page),
      h('details', {}, h('summary', {}, 'How it is computed, and what its columns mean'), h('div', {class: 'doc'}, a.doc ?? ''), columnDocs(a))));
}

function columnDocs(a) {
  return h('dl', {class: 'pairs'}, (a.columns ?? []).map((c) => [h('dt', {}, h('code', {}, c.name), c.unit ? ` ${unitLabel(c.unit)}` : ''), h('dd', {}, c.doc)]));
}

function form(a, page) {
  const values = given(a, page.state);
  const fields = new Map();
  const rows = (a.params ?? []).map((p) => {
    const id = `param-${p.name}`;
    const input = field(p, id, values[p.name] ?? '');
    fields.set(p.name, input);
    return h('div', {class: 'param'}, h('label', {for: id}, title(words(p.name)), p.unit && p.unit !== '1' ? h('span', {class: 'unit'}, ` ${unitLabel(p.unit)}`) : null), input, h('small', {}, p.doc));
  });
  const submit = (e) => {
    e.preventDefault();
    const changes = {};
    for (const p of a.params ?? []) changes[stateKey(p.name)] = fields.get(p.name).value.trim();
    go(changes);
  };
  const reset = () => go({run: page.run, tab: 'analyses', a: a.name}, {});
  return h('form', {class: 'form-grid', onsubmit: submit}, rows,
    h('div', {class: 'actions'}, h('button', {type: 'submit', class: 'primary'}, 'Compute'), h('button', {type: 'button', class: 'quiet', onclick: reset}, 'Defaults')));
}

function field(p, id, value) {
  const choices = p.type === 'boolean' || p.type === 'bool' ? ['true', 'false'] : Array.isArray(p.choices) ? p.choices : String(p.choices ?? '').split('|').filter(Boolean);
  const none = p.default === null || p.default === undefined || p.default === '' ? 'not set' : `${p.default} (default)`;
  if (choices.length) {
    const select = h('select', {id}, h('option', {value: ''}, none), choices.filter(Boolean).map((c) => h('option', {value: c}, c)));
    select.value = value;
    return select;
  }
  const range = p.min !== undefined && p.max !== undefined ? `${p.min} to ${p.max}` : null;
  return h('input', {type: 'text', id, value, placeholder: none, title: range, inputmode: /int|real|time/.test(p.type) ? 'decimal' : null, autocomplete: 'off', spellcheck: 'false'});
}

async function show(box, a, page) {
  const params = given(a, page.state);
  if (a.two_runs && !params.other) {
    fill(box, h('p', {class: 'note', role: 'status'}, 'Choose the run to compare this one with.'));
    return;
  }
  fill(box, h('p', {class: 'loading'}, 'Computing…'));
  const result = await api.analysis(page.run, a.name, params, page.signal);
  if (page.signal.aborted) return;
  const url = (format) => api.analysisUrl(page.run, a.name, {...params, format});
  const columns = result.specs.map((spec, i) => columnOf(spec, result.data[spec.name], i === 0 ? {header: true} : {}));
  const table = new DataTable(columns, {
    caption: words(a.name), max: '62vh', sort: parseSort(page.state.sort), onSort: (s) => replace({sort: sortText(s)}),
    empty: result.notes.length ? 'No rows; see the notes.' : 'No rows.',
  });
  table.setRows([...Array(result.n).keys()]);
  fill(box, h('section', {class: 'panel', 'aria-label': 'Result'},
    h('div', {class: 'panel-head'}, h('h2', {}, 'Result'), h('span', {class: 'dim'}, plural(result.n, 'row')),
      h('span', {class: 'end'}, ['csv', 'md', 'records', 'columns'].map((f) => h('a', {class: 'button quiet', href: url(f), target: '_blank', rel: 'noopener'}, f)), copyButton('Copy curl', () => `curl '${location.origin}${url('records')}'`))),
    table.element, result.notes.length ? h('div', {class: 'table-foot'}, result.notes.map((n) => h('span', {}, clip(n, 600)))) : null,
    h('div', {class: 'note'}, `${count(result.specs.length)} columns; parameters: ${clip(JSON.stringify(result.params), 300)}`)));
}
