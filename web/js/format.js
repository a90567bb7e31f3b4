// Numbers and names as people read them. Times come as µs; integers beyond 2^53 come as text and stay exact.

const SHOWN = 4000; // characters of a name put on the page; the rest is a click away in the event's own JSON

export const isNumber = (v) => typeof v === 'number' || (typeof v === 'string' && /^-?\d+$/.test(v));

/** For sorting: numbers, also those written as text; NaN where there is none. */
export const asNumber = (v) => (v === null || v === undefined || v === '' ? NaN : Number(v));

const grouped = new Intl.NumberFormat('en-GB', {maximumFractionDigits: 0});

export function count(v) {
  if (v === null || v === undefined) return '–';
  if (typeof v === 'string') return /^-?\d+$/.test(v) ? grouped.format(BigInt(v)) : v;
  return grouped.format(v);
}

export function fixed(v, digits) {
  const n = asNumber(v);
  return Number.isFinite(n) ? n.toLocaleString('en-GB', {minimumFractionDigits: digits, maximumFractionDigits: digits}) : '–';
}

export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** The unit that suits a whole column, so that its numbers can be compared at a glance. */
export function timeUnit(maxUs) {
  if (maxUs >= 1e7) return {name: 's', per: 1e6, digits: 3};
  if (maxUs >= 1e4) return {name: 'ms', per: 1e3, digits: maxUs >= 1e6 ? 1 : 3};
  return {name: 'µs', per: 1, digits: maxUs >= 1e3 ? 1 : 2};
}

/** A single time with the unit that suits it: 812 ns, 12.4 µs, 3.071 ms, 1.250 s. */
export function time(us) {
  const n = asNumber(us);
  if (!Number.isFinite(n)) return '–';
  const a = Math.abs(n);
  if (a === 0) return '0';
  if (a < 1) return `${Math.round(n * 1000)} ns`;
  if (a < 1e3) return `${digits(n)} µs`;
  if (a < 1e6) return `${digits(n / 1e3)} ms`;
  if (a < 6e7) return `${digits(n / 1e6)} s`;
  return `${Math.floor(n / 6e7)} min ${digits((n % 6e7) / 1e6)} s`;
}

function digits(n) {
  const a = Math.abs(n);
  return n.toFixed(a < 10 ? 3 : a < 100 ? 2 : a < 1000 ? 1 : 0);
}

/** A point of time on the ruler, with as many digits as `stepUs` needs. */
export function point(us, stepUs) {
  const [per, name] = Math.abs(stepUs) >= 1e5 ? [1e6, 's'] : Math.abs(stepUs) >= 100 ? [1e3, 'ms'] : [1, 'µs'];
  const d = Math.max(0, Math.min(9, -Math.floor(Math.log10(stepUs / per) + 1e-9)));
  return `${(us / per).toFixed(d)} ${name}`;
}

/** µs for a URL: exact to the nanosecond, no exponent, no trailing zeros. */
export const usText = (us) => us.toFixed(3).replace(/\.?0+$/, '');

export function percent(v, d = 1) {
  const n = asNumber(v);
  return Number.isFinite(n) ? `${n.toFixed(d)} %` : '–';
}

export function bytes(v) {
  const n = asNumber(v);
  if (!Number.isFinite(n)) return '–';
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let i = 0;
  let x = n;
  while (Math.abs(x) >= 1000 && i < units.length - 1) { x /= 1000; i++; }
  return `${i === 0 ? x : x.toFixed(x < 10 ? 2 : x < 100 ? 1 : 0)} ${units[i]}`;
}

/** Seconds, milliseconds or ISO text to local date and time; empty where there is none. */
export function date(v) {
  if (v === null || v === undefined || v === '' || v === 0) return '';
  const d = isNumber(v) ? new Date(Number(v) * (Number(v) < 1e11 ? 1000 : 1)) : new Date(v);
  if (Number.isNaN(d.getTime())) return String(v);
  const two = (n) => String(n).padStart(2, '0');
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}`;
}

export function clip(text, max = SHOWN) {
  const s = String(text ?? '');
  return s.length <= max ? s : `${s.slice(0, max)}… (${count(s.length)} characters)`;
}

/**
 * A C++ kernel name without return type, template and call arguments, namespaces: what people call it.
 * `at::native::(anonymous namespace)::foo<int>(long)` is foo. Names that are no C++ signature stay as they are.
 */
export function shortName(name) {
  const s = String(name ?? '').slice(0, SHOWN).replaceAll('(anonymous namespace)', 'anonymous').replaceAll('operator()', 'operator_call');
  if (!/[<(]/.test(s) || /^(Memcpy|Memset)/.test(s)) return clip(String(name ?? '').replace(/^void /, ''), 120);
  let out = '';
  let depth = 0;
  for (let i = 0; i < s.length; i++) {
    const c = s[i];
    if (c === '<') depth++;
    else if (c === '>' && s[i - 1] !== '-') depth = Math.max(0, depth - 1);
    else if (c === '(' && depth === 0) break;
    else if (depth === 0) out += c;
  }
  const bare = out.trim().split(/\s+/).pop() ?? '';
  const last = bare.split('::').filter((part) => part && part !== 'anonymous').pop();
  return clip(last || String(name), 120);
}

/** `communication_only` and `host-wait` for people: "communication only", "host wait". */
export const words = (name) => String(name ?? '').replace(/[_-]+/g, ' ').trim();

export const title = (text) => text.charAt(0).toUpperCase() + text.slice(1);

const UNITS = {us: 'µs', percent: '%', '1': '', bytes: 'B'};
export const unitLabel = (unit) => UNITS[unit] ?? unit ?? '';

/** The heading of a column: its name in words, its unit taken out of the name. */
export function heading(spec) {
  return title(words(String(spec.name).replace(/_(us|pct|bytes|gbps)$/, '')));
}
