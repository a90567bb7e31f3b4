// The server's JSON endpoints. Analyses come as columns (a third of the bytes of records) and are handed on as `Result`.

const BASE = '/api/v1';

/** An error the server (or the network) told of; `message` is the sentence to show. */
export class Problem extends Error {
  constructor(sentence, status = 0, code = '', details = {}) {
    super(sentence);
    this.status = status;
    this.code = code;
    this.details = details; // the other members of the problem document
  }
}

/** Reads application/problem+json, or makes a sentence of whatever else came. */
export function problemOf(status, body) {
  try {
    const p = JSON.parse(body);
    return new Problem(p.detail || p.title || `The server answered ${status}.`, status, p.code ?? '', p);
  } catch {
    return new Problem(status ? `The server answered ${status} without an explanation.` : 'The server does not answer.', status);
  }
}

export const path = (...parts) => BASE + parts.map((p) => `/${encodeURIComponent(p)}`).join('');

export function query(params) {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(params ?? {})) {
    if (value !== null && value !== undefined && value !== '') q.set(name, value);
  }
  const text = q.toString();
  return text ? `?${text}` : '';
}

async function send(url, options) {
  let response;
  try {
    response = await fetch(url, {headers: {Accept: 'application/json'}, ...options});
  } catch (e) {
    if (e.name === 'AbortError') throw e;
    throw new Problem('The server does not answer. Is holoscope still running?');
  }
  if (!response.ok) throw problemOf(response.status, await response.text());
  return response;
}

export async function getJson(url, signal) {
  return (await send(url, {signal})).json();
}

export const runs = async (signal) => ((await getJson(path('runs'), signal)).runs ?? []).map((r) => ({...r, name: r.run ?? r.name}));
export const run = (name, signal, cache) => getJson(path('runs', name) + query({cache}), signal);
export const mounts = (signal) => getJson(path('mounts'), signal);
export const refreshRun = (name) => send(path('runs', name, 'refresh'), {method: 'POST'});
export const removeRun = (name) => send(path('runs', name), {method: 'DELETE'});
export const reportUrl = (name, format) => path('runs', name, 'report') + query({format});
export const report = (name, signal) => getJson(reportUrl(name, 'json'), signal);
export const reportOverview = (name, signal) => getJson(path('runs', name, 'report') + query({format: 'json', part: 'overview'}), signal);
export const event = (trace, number, signal) => getJson(path('traces', trace, 'events', number), signal);
export const eventUrl = (trace, number) => path('traces', trace, 'events', number);
export const analysisUrl = (runName, analysis, params) => path('runs', runName, analysis) + query(params);

let registry = null; // the same for every run while the page is open
export async function analyses(signal) {
  registry ??= (await getJson(path('analyses'), signal)).analyses ?? [];
  return registry;
}

/** A table by columns: `n` rows, `data[name][row]`, `specs` in order, `notes`. */
export class Result {
  constructor(json) {
    this.analysis = json.analysis;
    this.params = json.params ?? {};
    this.specs = json.columns ?? [];
    this.notes = json.notes ?? [];
    this.data = {};
    if (json.data) this.specs.forEach((c, i) => { this.data[c.name] = json.data[i] ?? []; });
    else for (const c of this.specs) this.data[c.name] = (json.rows ?? []).map((r) => r[c.name]);
    this.n = this.specs.length ? this.data[this.specs[0].name].length : 0;
  }

  has(name) { return name in this.data; }

  spec(name) { return this.specs.find((c) => c.name === name); }

  /** The first of the named columns that there is, as an array; [] if none. */
  col(...names) {
    const name = names.find((n) => n in this.data);
    return name === undefined ? [] : this.data[name];
  }

  rows() {
    const names = this.specs.map((c) => c.name);
    return Array.from({length: this.n}, (_, i) => Object.fromEntries(names.map((n) => [n, this.data[n][i]])));
  }
}

// Answers of the page's own lifetime. The server's ETags make asking again cheap; this makes going back instant.
const kept = new Map();
const KEPT = 60;

/** Without the memory of `analysis`, for callers with one of their own. */
export async function ask(runName, name, params, signal) {
  return new Result(await getJson(analysisUrl(runName, name, {...params, format: 'columns'}), signal));
}

export async function analysis(runName, name, params, signal) {
  const url = analysisUrl(runName, name, params);
  const old = kept.get(url);
  if (old) return old;
  const result = await ask(runName, name, params, signal);
  kept.set(url, result);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  return result;
}

/** After an upload or a deletion nothing kept is sure any more. */
export const forget = () => kept.clear();
