// The way in: picker, drop, errors, and the way out: deletion.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {test} from 'node:test';
import {generate, kernelRows, query, site, until, writeTrace} from './harness.mjs';

let sample;
const s = site(() => { sample = generate(s.root, 'sample', '--ranks', '4', '--steps', '3'); });

test('an empty store says what to do', async () => {
  const page = await s.page();
  await page.getByText('No runs yet').waitFor();
  assert.match(await page.locator('.curl code').textContent(), new RegExp(`^curl -T trace.json.gz '${s.url}/api/v1/traces\\?name=trace.json.gz'$`));
  await page.close();
});

test('four files picked together become one run of four ranks, and its page opens', async () => {
  const page = await s.page();
  await page.fill('#run-name', 'my run');
  await page.setInputFiles('#files', sample.files);
  await page.waitForURL(/run=my\+run/);
  assert.equal(await page.locator('h1').textContent(), 'my run');
  const run = await s.get('/api/v1/runs/my%20run');
  assert.deepEqual(run.traces.map((t) => t.rank).sort(), [0, 1, 2, 3]);
  for (const truth of sample.truth.ranks) assert.equal(run.traces.find((t) => t.rank === truth.rank).events, truth.events);
  await page.locator('canvas.tl-canvas').waitFor();
  assert.ok((await kernelRows(page)).length > 0);
  assert.equal(await page.locator('#uploads .done').count(), 4);
  await page.close();
});

test('the same file again is told to be there already', async () => {
  const page = await s.page();
  await page.fill('#run-name', 'my run');
  await page.setInputFiles('#files', sample.files[0]);
  await page.locator('#uploads .done', {hasText: 'already there'}).waitFor();
  assert.equal((await s.get('/api/v1/runs')).runs.length, 1);
  await page.close();
});

test('a file dropped anywhere opens its run', async () => {
  const file = writeTrace(path.join(s.root, 'dropped.json'), [{name: 'a_kernel', ts: 0, dur: 10}, {name: 'b_kernel', ts: 50, dur: 10}]);
  const page = await s.page('/?run=my+run&tab=files');
  await page.locator('#tab table').waitFor();
  const transfer = await page.evaluateHandle((text) => {
    const t = new DataTransfer();
    t.items.add(new File([text], 'dropped.json', {type: 'application/json'}));
    return t;
  }, fs.readFileSync(file, 'utf8'));
  await page.dispatchEvent('body', 'dragenter', {dataTransfer: transfer});
  await page.locator('#drop').waitFor();
  await page.dispatchEvent('body', 'drop', {dataTransfer: transfer});
  await until(() => query(page).run && query(page).run !== 'my run', 'the dropped run opens');
  assert.deepEqual((await kernelRows(page)).map((r) => r.full).sort(), ['a_kernel', 'b_kernel']);
  assert.equal(await page.locator('#drop').isHidden(), true);
  await page.close();
});

test('what is no trace gets the server\'s own sentence, and nothing is kept', async () => {
  const html = path.join(s.root, 'page.json');
  fs.writeFileSync(html, '<!doctype html><html><body>Sign in</body></html>');
  const answer = await fetch(`${s.url}/api/v1/traces?name=page.json`, {method: 'PUT', body: fs.readFileSync(html)});
  assert.equal(answer.status, 422);
  const {detail} = await answer.json();
  assert.ok(detail.length > 10);
  const before = (await s.get('/api/v1/runs')).runs.length;
  const page = await s.page();
  await page.setInputFiles('#files', html);
  const alert = page.locator('#uploads [role=alert]');
  await alert.waitFor();
  assert.equal(await alert.textContent(), detail);
  assert.equal((await s.get('/api/v1/runs')).runs.length, before);
  assert.equal(new URL(page.url()).search, '');
  await page.close();
});

test('a run is searched, asked about, and deleted', async () => {
  const page = await s.page();
  await page.locator('a', {hasText: 'my run'}).first().waitFor();
  await page.fill('#search', 'MY R');
  await until(async () => (await page.locator('main tr[aria-rowindex]').count()) === 1, 'one row');
  await page.getByRole('button', {name: 'Delete my run'}).click();
  await page.getByRole('button', {name: 'Keep it'}).click();
  assert.equal((await s.get('/api/v1/runs')).runs.some((r) => (r.run ?? r.name) === 'my run'), true);
  await page.getByRole('button', {name: 'Delete my run'}).click();
  await page.locator('dialog button.danger').click();
  await page.getByText('No run has this name').waitFor();
  assert.equal((await s.get('/api/v1/runs')).runs.some((r) => (r.run ?? r.name) === 'my run'), false);
  await page.close();
});

test('a run that is not there is a sentence and a way back', async () => {
  const page = await s.page('/?run=nowhere');
  const alert = page.locator('[role=alert]').first();
  await alert.waitFor();
  const problem = await s.get('/api/v1/runs/nowhere');
  assert.equal(await alert.textContent(), problem.detail);
  await page.getByRole('link', {name: 'All runs'}).click();
  await page.locator('#search').waitFor();
  await page.close();
});
