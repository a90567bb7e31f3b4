// The page's own small functions, called in the browser they are made for.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {site} from './harness.mjs';

const s = site();

/** Results of calls [function, ...arguments] of a module. */
async function call(module, calls) {
  const page = await s.page();
  const out = await page.evaluate(async ([m, list]) => {
    const functions = await import(m);
    return list.map(([f, ...args]) => functions[f](...args));
  }, [module, calls]);
  await page.close();
  return out;
}

test('times are written in the unit that suits them', async () => {
  const cases = [[0, '0'], [0.812, '812 ns'], [12.4, '12.40 µs'], [3071, '3.071 ms'], [1250000, '1.250 s'], [90e6, '1 min 30.00 s'], [-5, '-5.000 µs'], [null, '–'], ['x', '–']];
  assert.deepEqual(await call('/js/format.js', cases.map(([us]) => ['time', us])), cases.map(([, text]) => text));
});

test('integers beyond 2^53 stay exact, bytes and shares are rounded', async () => {
  assert.deepEqual(await call('/js/format.js', [['count', '9223372036854775807'], ['count', 1234567], ['count', null], ['bytes', 53733385], ['bytes', 999], ['percent', 12.345], ['percent', null], ['usText', 1000.5], ['usText', 0.0014], ['usText', 1712195495519]]),
    ['9,223,372,036,854,775,807', '1,234,567', '–', '53.7 MB', '999 B', '12.3 %', '–', '1000.5', '0.001', '1712195495519']);
});

test('kernel names are shortened to what people call them', async () => {
  const cases = [
    ['void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, false>(int, float)', 'vectorized_layer_norm_kernel'],
    ['ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)', 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'],
    ['void k<a<b<c>>, &x::operator()>(int)', 'k'],
    ['Memcpy HtoD (Pinned -> Device)', 'Memcpy HtoD (Pinned -> Device)'],
    ['volta_sgemm_128x32_nt', 'volta_sgemm_128x32_nt'],
    ['<<<', '<<<'],
    ['', ''],
  ];
  assert.deepEqual(await call('/js/format.js', cases.map(([name]) => ['shortName', name])), cases.map(([, short]) => short));
});

test('sorting keeps ties in order and puts what has no value last, both ways', async () => {
  const page = await s.page();
  const [up, down, text] = await page.evaluate(async () => {
    const {order} = await import('/js/table.js');
    const values = [3, NaN, 1, 3, null, 2];
    const rows = [...values.keys()];
    const names = ['k10', 'k9', '', 'K9'];
    return [order(rows, (i) => values[i], false), order(rows, (i) => values[i], true), order([0, 1, 2, 3], (i) => names[i], false)];
  });
  assert.deepEqual(up, [2, 5, 0, 3, 1, 4]);
  assert.deepEqual(down, [0, 3, 5, 2, 1, 4]);
  assert.deepEqual(text.slice(2), [0, 2]);
  await page.close();
});

test('a view\'s address keeps any text, and leaves out what is not set', async () => {
  const [full, none] = await call('/js/url.js', [['href', {run: 'a b&c=d/é', tab: '', q: '100%', rank: 0}, {}], ['href', {run: ''}, {}]]);
  const q = new URLSearchParams(full.slice(2));
  assert.deepEqual(Object.fromEntries(q), {run: 'a b&c=d/é', q: '100%', rank: '0'});
  assert.equal(none, '/');
});
