// The kernel table against what the generator knows.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {generate, kernelRows, query, site} from './harness.mjs';

let sample;
const s = site(async () => {
  sample = generate(s.root, 'sample', '--ranks', '3', '--steps', '4', '--seed', '7');
  for (const file of sample.files) await s.put(file, 'sample');
});

/** Truth by rank and name: calls, sum, shortest, longest in ns. */
const truthOf = (rank) => sample.truth.ranks.find((r) => r.rank === Number(rank));
const all = (rank) => ({...truthOf(rank).kernel_names, ...truthOf(rank).memory_names});
const number = (text) => Number(text.replaceAll(',', ''));

async function unitOf(page, key) {
  const unit = await page.locator(`th[data-key="${key}"] .unit`).textContent();
  return {'µs': 1e3, ms: 1e6, s: 1e9}[unit];
}

test('every kernel of every rank has its calls, sum, shortest and longest', async () => {
  const page = await s.page('/?run=sample&tab=kernels');
  const rows = await kernelRows(page);
  const named = (r, names) => Object.keys(names).map((n) => `${r.rank} ${n}`);
  assert.deepEqual(rows.map((r) => `${r.rank} ${r.full}`).sort(), sample.truth.ranks.flatMap((r) => named(r, all(r.rank))).sort());
  const kernels = rows.filter((r) => /^(compute|communication)$/.test(r.class));
  assert.deepEqual(kernels.map((r) => `${r.rank} ${r.full}`).sort(), sample.truth.ranks.flatMap((r) => named(r, r.kernel_names)).sort());
  const units = {};
  for (const key of ['sum_us', 'min_us', 'max_us']) units[key] = await unitOf(page, key);
  for (const row of rows) {
    const truth = all(row.rank)[row.full];
    assert.equal(number(row.calls), truth.calls, row.full);
    for (const [key, ns] of [['sum_us', truth.sum_ns], ['min_us', truth.min_ns], ['max_us', truth.max_ns]]) {
      const digits = (row[key].split('.')[1] ?? '').length;
      assert.ok(Math.abs(number(row[key]) - ns / units[key]) <= 0.5000001 * 10 ** -digits, `${row.full} ${key}: ${row[key]} is not ${ns} ns`);
    }
  }
  await page.close();
});

test('a click on a head sorts, and the URL keeps it', async () => {
  const page = await s.page('/?run=sample&tab=kernels');
  await kernelRows(page);
  const head = page.locator('th[data-key=calls]');
  await head.locator('button').click();
  assert.equal(await head.getAttribute('aria-sort'), 'descending');
  assert.equal(await page.locator('th[data-key=sum_us]').getAttribute('aria-sort'), null);
  const calls = (await kernelRows(page)).map((r) => all(r.rank)[r.full].calls);
  assert.deepEqual(calls, [...calls].sort((a, b) => b - a));
  assert.equal(query(page).sort, '-calls');
  await head.locator('button').click();
  assert.equal(await head.getAttribute('aria-sort'), 'ascending');
  await page.goBack();
  await page.locator('th[data-key=calls][aria-sort=descending]').waitFor();
  await page.close();
});

test('text, expression, rank and class filter the rows', async () => {
  const page = await s.page('/?run=sample&tab=kernels');
  await kernelRows(page);
  const field = page.locator('#kernel-filter');
  await page.keyboard.press('/');
  await page.keyboard.type('nccl');
  await page.waitForURL(/q=nccl/);
  const wanted = Object.keys(all(0)).filter((n) => n.toLowerCase().includes('nccl'));
  const shown = await kernelRows(page);
  assert.equal(shown.length, 3 * wanted.length);
  assert.ok(shown.every((r) => wanted.includes(r.full)));
  await field.fill('^void .*norm');
  await page.locator('button', {hasText: '.*'}).click();
  await page.waitForURL(/re=1/);
  const regular = Object.keys(all(0)).filter((n) => /^void .*norm/i.test(n));
  assert.ok(regular.length > 0);
  await page.waitForFunction((n) => document.querySelectorAll('#tab tr[aria-rowindex]').length === n, 3 * regular.length);
  await page.getByLabel('Rank', {exact: true}).selectOption('1');
  assert.deepEqual((await kernelRows(page)).map((r) => r.full).sort(), regular.sort());
  await field.fill('(');
  await page.waitForURL(/q=%28/);
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  assert.match(await page.locator('.table-foot .severity').first().textContent(), /regular expression/i);
  await field.fill('');
  await page.getByRole('button', {name: 'communication'}).click();
  assert.ok((await kernelRows(page)).every((r) => r.class === 'communication' && r.rank === '1'));
  assert.deepEqual({...query(page)}, {run: 'sample', tab: 'kernels', re: '1', rank: '1', class: 'communication'});
  await page.close();
});

test('a view is its address: another window opened with it shows the same rows', async () => {
  const address = '/?run=sample&tab=kernels&q=gemm|nvjet|cutlass|layer&re=1&rank=2&sort=-max_us';
  const one = await s.page(address);
  const rows = await kernelRows(one);
  assert.ok(rows.length > 0 && rows.every((r) => r.rank === '2' && /gemm|nvjet|cutlass|layer/i.test(r.full)));
  const longest = rows.map((r) => all(2)[r.full].max_ns);
  assert.deepEqual(longest, [...longest].sort((a, b) => b - a));
  const two = await s.page(new URL(one.url()).search.replace(/^/, '/'));
  assert.deepEqual(await kernelRows(two), rows);
  await one.close();
  await two.close();
});

test('a row opens to the full name, by mouse and by keys', async () => {
  const page = await s.page('/?run=sample&tab=kernels');
  const rows = await kernelRows(page);
  const first = page.locator('button.expand').first();
  await first.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const open = page.locator('button.expand[aria-expanded=true]');
  assert.equal(await open.locator('.name').getAttribute('title'), rows[1].full);
  assert.equal(await page.locator('tr.detail .full-name').textContent(), rows[1].full);
  await open.click();
  assert.equal(await page.locator('tr.detail').count(), 0);
  await page.close();
});

test('CSV and Markdown are the API\'s own', async () => {
  const page = await s.page('/?run=sample&tab=kernels&rank=1');
  await kernelRows(page);
  const link = await page.locator('a', {hasText: 'CSV'}).getAttribute('href');
  const csv = await (await fetch(s.url + link)).text();
  const lines = csv.trim().split(/\r?\n/);
  assert.match(lines[0], /^rank,name,/);
  assert.ok(lines.slice(1).every((l) => l.startsWith('1,')));
  await page.close();
});
