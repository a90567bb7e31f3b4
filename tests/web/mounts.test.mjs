// Mounted folders: listed, asked about before anything is kept, refreshed when they have changed.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {test} from 'node:test';
import {generate, site, writeTrace} from './harness.mjs';

const s = site(() => {
  for (const job of ['kept', 'forgotten']) generate(path.join(s.root, 'mnt'), job, '--ranks', '2', '--steps', '2');
}, {config: (root) => `[[mount]]\nname = "nightly"\npath = "${path.join(root, 'mnt')}"\n`});

const stateOf = (page, run) => page.locator('tr', {hasText: run}).locator('.state');

test('a mounted run is listed as not cached, and nothing is kept unasked', async () => {
  const page = await s.page();
  await page.getByText('nightly:kept').waitFor();
  assert.equal(await stateOf(page, 'nightly:kept').textContent(), 'not cached');
  await page.getByText('nightly:kept').click();
  const dialog = page.getByRole('dialog', {name: 'Keep this run?'});
  await dialog.waitFor();
  assert.match(await dialog.textContent(), /nightly:kept is in a mounted folder, [\d.]+ kB of traces.*takes about [\d.]+ kB, .* are free/);
  await dialog.getByRole('button', {name: 'Cancel'}).click();
  await page.getByRole('heading', {name: 'Mounted folders'}).waitFor();
  assert.equal((await s.get('/api/v1/runs')).runs.length, 0);
  await page.close();
});

test('analysed and forgotten: the run opens, the store stays empty', async () => {
  const page = await s.page('/?run=nightly:forgotten');
  await page.getByRole('button', {name: 'Analyse and forget'}).click();
  await page.locator('canvas.tl-canvas').waitFor();
  assert.equal(await page.locator('h1').textContent(), 'nightly:forgotten');
  assert.equal((await s.get('/api/v1/runs')).runs.length, 0);
  await page.goto(`${s.url}/`);
  await page.getByText('in memory').waitFor();
  await page.close();
});

test('kept: it just opens from then on, and a changed folder is stale until it is refreshed', async () => {
  const page = await s.page('/?run=nightly:kept');
  await page.getByRole('button', {name: 'Keep it'}).click();
  await page.locator('canvas.tl-canvas').waitFor();
  assert.deepEqual((await s.get('/api/v1/runs')).runs.map((r) => r.run), ['nightly:kept']);
  writeTrace(path.join(s.root, 'mnt', 'kept', 'rank7.json'), [{name: 'k', ts: 0, dur: 10}], {distributedInfo: {rank: 7}});
  await page.goto(`${s.url}/?run=nightly:kept`);
  await page.getByText('have changed in the mounted folder since it was kept').first().waitFor(); // the report says so itself
  await page.goto(`${s.url}/`);
  assert.match(await stateOf(page, 'nightly:kept').first().textContent(), /^stale/);
  await page.getByRole('button', {name: 'Refresh'}).click();
  await page.locator('.state', {hasText: /^cached$/}).waitFor();
  // And from the run's own page: the new rank stands in its title.
  writeTrace(path.join(s.root, 'mnt', 'kept', 'rank8.json'), [{name: 'k', ts: 0, dur: 10}], {distributedInfo: {rank: 8}});
  await page.goto(`${s.url}/?run=nightly:kept`);
  await page.getByRole('button', {name: 'Refresh'}).click();
  await page.locator('.run-title', {hasText: '4 ranks'}).waitFor();
  assert.equal(await page.getByRole('button', {name: 'Refresh'}).count(), 0);
  fs.rmSync(path.join(s.root, 'mnt', 'kept', 'rank8.json'));
  await page.goto(`${s.url}/`);
  const run = await s.get('/api/v1/runs/nightly:kept');
  assert.deepEqual(run.traces.map((t) => t.rank).sort(), [0, 1, 7, 8]);
  assert.ok(fs.existsSync(path.join(s.root, 'mnt', 'kept', 'rank7.json')));
  await page.close();
});

test('what comes into the folder while the page is open is listed by itself', async () => {
  const page = await s.page();
  await page.getByText('nightly:forgotten').waitFor();
  assert.equal(await page.getByText('nightly:late').count(), 0);
  fs.mkdirSync(path.join(s.root, 'mnt', 'late'));
  writeTrace(path.join(s.root, 'mnt', 'late', 'rank0.json'), [{name: 'k', ts: 0, dur: 10}]);
  await page.getByText('nightly:late').waitFor({timeout: 20000});
  assert.equal(await stateOf(page, 'nightly:late').textContent(), 'not cached');
  await page.close();
});

test('an upload that is to be forgotten opens, and the store does not have it', async () => {
  const before = (await s.get('/api/v1/runs')).runs.length;
  const page = await s.page();
  await page.check('#forget');
  await page.fill('#run-name', 'only once');
  await page.setInputFiles('#files', writeTrace(path.join(s.root, 'once.json'), [{name: 'k', ts: 0, dur: 10}]));
  await page.waitForURL(/run=only\+once/);
  await page.locator('canvas.tl-canvas').waitFor();
  assert.equal((await s.get('/api/v1/runs')).runs.length, before);
  await page.close();
});
