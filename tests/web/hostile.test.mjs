// Names are data: whatever a trace calls its kernels, the page shows it as text.

import assert from 'node:assert/strict';
import path from 'node:path';
import {test} from 'node:test';
import {kernelRows, site, until, writeTrace} from './harness.mjs';

const IMG = '<img src=x onerror="window.hacked=1">';
const SCRIPT = '</td></table><script>window.hacked=2</script>';
const RTL = '\u202eكيرنل עברית kernel\u202c';
const LONG = `long_${'x'.repeat(60000)}`;
const RUN = `${IMG}&"'run №1?#%`;
const NAMES = [IMG, SCRIPT, RTL, LONG, 'javascript:window.hacked=3', '{{7*7}}${7*7}', '', '__proto__', 'constructor'];

const s = site(async () => {
  const kernels = NAMES.map((name, i) => ({name, ts: i * 100, dur: 50 + i, args: {[IMG]: SCRIPT, '__proto__x': 'y'}}));
  await s.put(writeTrace(path.join(s.root, 'hostile.json'), kernels), RUN);
});

const innocent = async (page) => {
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator('main img, main script, main iframe').count(), 0);
};

test('the list of runs', async () => {
  const page = await s.page();
  const link = page.locator('main tbody a').first();
  await link.waitFor();
  assert.equal(await link.textContent(), RUN);
  await innocent(page);
  await link.click();
  await page.locator('h1').waitFor();
  assert.equal(await page.locator('h1').textContent(), RUN);
  assert.equal(new URL(page.url()).searchParams.get('run'), RUN);
  await innocent(page);
  await page.close();
});

test('every tab of its page', async () => {
  for (const tab of ['', 'kernels', 'timeline', 'idle', 'analyses', 'files']) {
    const page = await s.page(`/?${new URLSearchParams({run: RUN, tab})}`);
    await page.locator('#tab table, #tab canvas').first().waitFor();
    await innocent(page);
    assert.equal(await page.locator('main [role=alert]:not(:empty)').count(), 0, tab);
    await page.close();
  }
});

test('kernel names are shown as they are, long ones clipped', async () => {
  const page = await s.page(`/?${new URLSearchParams({run: RUN, tab: 'kernels'})}`);
  const rows = await kernelRows(page);
  const full = new Set(rows.map((r) => r.full));
  for (const name of [IMG, SCRIPT, RTL, 'javascript:window.hacked=3', '{{7*7}}${7*7}', '__proto__', 'constructor']) assert.ok(full.has(name), name);
  assert.equal(rows.length, NAMES.length);
  const box = page.locator('.table-scroll').last();
  assert.ok((await box.evaluate((b) => b.scrollWidth - b.clientWidth)) < 3000, 'a long name does not widen the page');
  const long = page.locator('button.expand').filter({has: page.locator('[title^=long_]')});
  assert.ok((await long.textContent()).length < 300);
  await long.click();
  const shown = await page.locator('.full-name').textContent();
  assert.ok(shown.startsWith('long_xxx') && shown.length < 10000);
  assert.match(shown, /60,005 characters/);
  await page.locator('#kernel-filter').fill('<script>');
  await until(async () => (await page.locator('#tab tr[aria-rowindex]').count()) === 1, 'the filter takes it as text');
  await innocent(page);
  await page.close();
});

test('tooltip and details', async () => {
  const page = await s.page(`/?${new URLSearchParams({run: RUN, tab: 'timeline'})}`);
  await page.locator('canvas.tl-canvas').waitFor();
  await page.locator('.tl-box').focus();
  const seen = new Set();
  for (let i = 0; i < 2 * NAMES.length; i++) {
    await page.keyboard.press('.');
    await page.locator('.tl-pin .name').waitFor();
    seen.add(await page.locator('.tl-pin .name').textContent());
    await innocent(page);
  }
  assert.ok([...seen].some((t) => t.includes('onerror')) && [...seen].some((t) => t.includes('script')), [...seen].join(' | ').slice(0, 500));
  const box = await page.locator('canvas.tl-canvas').boundingBox();
  for (let x = 150; x < box.width; x += 90) await page.mouse.move(box.x + x, box.y + 60);
  await innocent(page);
  await page.close();
});
