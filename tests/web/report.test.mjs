// The first view of a run: the finding and its number against what the generator knows, and every number leads to where
// it comes from.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {test} from 'node:test';
import {generate, query, site, writeTrace} from './harness.mjs';

let loader;
const s = site(async () => {
  loader = generate(s.root, 'loader', '--story', 'slow-loader', '--steps', '4', '--stacks');
  for (const file of loader.files) await s.put(file, 'loader');
  await s.put(writeTrace(path.join(s.root, 'hostile.json'), [{name: '<img src=x onerror=alert(1)>', ts: 0, dur: 900}, {name: 'b', ts: 2000, dur: 100}]), 'hostile');
  const cpu = path.join(s.root, 'cpu.json');
  fs.writeFileSync(cpu, JSON.stringify({traceEvents: [{ph: 'X', cat: 'cpu_op', name: 'aten::add', pid: 1, tid: 1, ts: 10, dur: 5}]}));
  await s.put(cpu, 'cpu');
});

const sum = (key) => loader.truth.ranks.reduce((n, r) => n + r[key], 0);
const finding = (page) => page.locator('section[aria-label="Main finding"]');

test('the main finding has the idle share that the generator made', async () => {
  const page = await s.page('/?run=loader');
  const sentence = finding(page).locator('p.finding:not(.dim)');
  await sentence.waitFor();
  const idle = ((100 * sum('idle_ns')) / sum('span_ns')).toFixed(1);
  assert.match(await sentence.textContent(), new RegExp(`idle ${idle.replace('.', '\\.')} %`));
  await page.close();
});

test('the top kernels are those of the truth, with calls and share', async () => {
  const page = await s.page('/?run=loader');
  const rows = finding(page).locator('section[aria-label="Top kernels"] tbody tr');
  await rows.first().waitFor();
  const total = new Map();
  let work = 0;
  for (const r of loader.truth.ranks) {
    for (const [name, k] of Object.entries({...r.kernel_names, ...r.memory_names})) {
      const t = total.get(name) ?? {calls: 0, sum: 0};
      total.set(name, {calls: t.calls + k.calls, sum: t.sum + k.sum_ns});
      work += k.sum_ns;
    }
  }
  const best = [...total].sort((a, b) => b[1].sum - a[1].sum).slice(0, await rows.count());
  assert.ok(best.length >= 3);
  for (const [i, [name, k]] of best.entries()) {
    const cells = await rows.nth(i).locator('td').allTextContents();
    assert.equal(await rows.nth(i).locator('a').getAttribute('title'), name);
    assert.equal(cells[0], `${((100 * k.sum) / work).toFixed(1)} %`);
    assert.equal(cells[1], String(k.calls));
  }
  await page.close();
});

test('every number of a recommendation opens the analysis it comes from, every event its JSON', async () => {
  const page = await s.page('/?run=loader');
  const first = finding(page).locator('ol.advice > li').first();
  await first.waitFor();
  assert.match(await first.textContent(), /DataLoader/);
  const event = await first.locator('a[href*="/events/"]').first().getAttribute('href');
  assert.ok((await s.get(event)).name, 'the event is one of the trace');
  const number = first.locator('a[data-nav]').first();
  assert.match(await number.textContent(), /^[\d.]+ %$/);
  await number.click();
  await page.locator('section[aria-label=Result] tbody tr').first().waitFor();
  const {tab, a} = query(page);
  assert.equal(tab, 'analyses');
  assert.equal(a, 'idle-causes');
  await page.close();
});

test('a run without GPU work says what to record, and what could not be judged', async () => {
  const page = await s.page('/?run=cpu');
  await finding(page).locator('ol.advice > li').first().waitFor();
  assert.match(await finding(page).locator('ol.advice').textContent(), /ProfilerActivity\.CUDA/);
  assert.match(await finding(page).locator('details summary').textContent(), /\d+ of \d+ rules could not be judged/);
  assert.deepEqual(await finding(page).locator('section[aria-label="Top operators"] tbody td').allTextContents(), ['100.0 %', '1', '5.0', 'aten::add']);
  await page.close();
});

test('a kernel with a hostile name is text', async () => {
  const page = await s.page('/?run=hostile');
  const name = finding(page).locator('section[aria-label="Top kernels"] tbody a').first();
  await name.waitFor();
  assert.equal(await name.getAttribute('title'), '<img src=x onerror=alert(1)>');
  assert.equal(await finding(page).locator('img').count(), 0);
  await page.close();
});
