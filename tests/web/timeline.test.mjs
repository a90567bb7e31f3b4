// The timeline: what is drawn, what hovering and pinning tell, keys and mouse, and the URL.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {test} from 'node:test';
import {gunzipSync} from 'node:zlib';
import {generate, kernelRows, query, site, until, writeTrace} from './harness.mjs';

const GUTTER = 132; // as in timeline-draw.js

// A hand-made stream, µs from its first event: A, a host wait, B, a short kernel wait, C; and D beside them on a second one.
const HAND = [
  {name: 'void ns::kernel_a<float>(float*)', ts: 100, dur: 200},
  {name: 'kernel_b', ts: 600, dur: 100, launch: 550},
  {name: 'kernel_c', ts: 710, dur: 190, launch: 120},
  {name: 'ncclDevKernel_AllReduce_Sum_f32_RING_LL', ts: 400, dur: 450, stream: 20},
];

let sample;
const s = site(async () => {
  sample = generate(s.root, 'sample', '--ranks', '2', '--steps', '4', '--seed', '3');
  for (const file of sample.files) await s.put(file, 'sample');
  await s.put(writeTrace(path.join(s.root, 'hand.json'), HAND), 'hand');
});

async function open(address) {
  const page = await s.page(address);
  await page.locator('canvas.tl-canvas').waitFor();
  await settled(page);
  return page;
}

const settled = (page) => until(() => page.locator('.tl-box').evaluate((b) => b.dataset.loading === 'false' && new Promise((r) => { setTimeout(() => r(b.dataset.loading === 'false'), 200); })), 'the tiles are there');

/** The middle of the lane whose label the API gives, in page coordinates; rows are laid out in the API's order. */
async function lanes(run) {
  const t = await s.get(`/api/v1/runs/${run}/timeline`);
  return t.rows.filter((r) => r.kind === 'lane' && r.lane_kind === 'gpu');
}

/** Hovers at a time of the run's clock over the lane that holds `y` px below the canvas' top. */
async function hover(page, us, y) {
  const box = await page.locator('canvas.tl-canvas').boundingBox();
  const {from, to} = query(page);
  const x = box.x + GUTTER + ((us - Number(from)) / (Number(to) - Number(from))) * (box.width - GUTTER);
  await page.mouse.move(x - 1, box.y + y);
  await page.mouse.move(x, box.y + y);
  return page.locator('.tl-tip');
}

/** y of each lane's middle, found by hovering down the canvas at a time at which every lane has something. */
async function laneMiddles(page, us) {
  const box = await page.locator('canvas.tl-canvas').boundingBox();
  const found = new Map();
  for (let y = 30; y < box.height - 2; y += 4) {
    const tip = await hover(page, us, y);
    if (await tip.isHidden()) continue;
    const where = /rank \S+ · [^·\n]*stream -?\d+/.exec(await tip.textContent())[0];
    if (!found.has(where)) found.set(where, []);
    found.get(where).push(y);
  }
  return new Map([...found].map(([k, ys]) => [k, ys[ys.length >> 1]]));
}

/** The first kernel starts the run's clock or not; the API's own announcement of the lane says where it is. */
async function handStart() {
  return Number((await lanes('hand')).find((l) => l.lane.endsWith('/7')).start_us) - 100;
}

test('hovering names the kernel, shortly and in full, and the cause of a gap', async () => {
  const t0 = await handStart();
  const page = await open(`/?run=hand&tab=timeline&from=${t0 + 50}&to=${t0 + 950}`);
  const at = await laneMiddles(page, t0 + 610);
  assert.deepEqual([...at.keys()], ['rank 0 · stream 7', 'rank 0 · stream 20']);
  const y = at.get('rank 0 · stream 7');
  const cases = [
    [200, /^kernel_a.*200\.0 µs · compute.*void ns::kernel_a<float>\(float\*\)/],
    [450, /^Idle, host wait: 300\.0 µs.*ended by kernel_b/],
    [650, /^kernel_b.*100\.0 µs · compute/],
    [705, /^Idle, kernel wait: 10\.00 µs.*ended by kernel_c/],
    [800, /^kernel_c.*190\.0 µs · compute/],
  ];
  for (const [us, wanted] of cases) assert.match((await (await hover(page, t0 + us, y)).textContent()).replace(/^ns::/, ''), wanted);
  assert.match(await (await hover(page, t0 + 700, at.get('rank 0 · stream 20'))).textContent(), /^ncclDevKernel_AllReduce_Sum_f32_RING_LL.*450\.0 µs · communication/);
  await hover(page, t0 + 90, y);
  assert.equal(await page.locator('.tl-tip').isHidden(), true, 'nothing is there before the first kernel');
  await page.close();
});

test('lanes are drawn: work in its class\' colour, gaps in another, nothing where nothing is', async () => {
  const t0 = await handStart();
  const page = await open(`/?run=hand&tab=timeline&from=${t0 + 50}&to=${t0 + 950}`);
  const at = await laneMiddles(page, t0 + 610);
  await page.mouse.move(5, 5);
  const look = (us, y) => page.locator('canvas.tl-canvas').evaluate((canvas, [u, yy, f, t, gutter]) => {
    const ratio = canvas.width / canvas.clientWidth;
    const x = gutter + ((u - f) / (t - f)) * (canvas.clientWidth - gutter);
    const {data} = canvas.getContext('2d').getImageData(Math.round(x * ratio) - 4, Math.round((yy - 7) * ratio), 8, 14);
    const colours = new Map();
    for (let i = 0; i < data.length; i += 4) {
      const c = `rgb(${data[i]}, ${data[i + 1]}, ${data[i + 2]})`;
      colours.set(c, (colours.get(c) ?? 0) + 1);
    }
    return [...colours].sort((a, b) => b[1] - a[1])[0][0];
  }, [us, y, t0 + 50, t0 + 950, GUTTER]);
  const token = (name) => page.evaluate((n) => {
    const probe = document.body.appendChild(document.createElement('i'));
    probe.style.color = `var(${n})`;
    const c = getComputedStyle(probe).color;
    probe.remove();
    return c;
  }, name);
  const [seven, twenty] = [at.get('rank 0 · stream 7'), at.get('rank 0 · stream 20')];
  assert.equal(await look(t0 + 290, seven), await token('--k-compute'));
  assert.equal(await look(t0 + 840, twenty), await token('--k-comm'));
  assert.equal(await look(t0 + 75, seven), await token('--lane'));
  const gap = await look(t0 + 550, seven);
  assert.ok(![await token('--k-compute'), await token('--lane')].includes(gap), gap);
  await page.close();
});

test('every lane of a real run is drawn', async () => {
  const page = await open('/?run=sample&tab=timeline');
  const wanted = (await lanes('sample')).length;
  assert.equal(wanted, sample.truth.ranks.reduce((n, r) => n + r.streams.length, 0));
  const rows = await page.locator('canvas.tl-canvas').evaluate((canvas, gutter) => {
    const c = canvas.getContext('2d');
    let seen = 0;
    let inside = false;
    for (let y = 24; y < canvas.height; y++) { // rows of pixels with many colours' changes are lanes with work
      const {data} = c.getImageData(gutter + 1, y, canvas.width - gutter - 1, 1);
      const colours = new Set();
      for (let i = 0; i < data.length; i += 4) colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
      const busy = colours.size >= 4;
      if (busy && !inside) seen++;
      inside = busy;
    }
    return seen;
  }, GUTTER);
  assert.ok(rows >= wanted, `${rows} bands for ${wanted} lanes`);
  await page.close();
});

test('a click pins: details, the event of the file, and an address that shows it again', async () => {
  const t0 = await handStart();
  const page = await open(`/?run=hand&tab=timeline&from=${t0 + 50}&to=${t0 + 950}`);
  const at = await laneMiddles(page, t0 + 610);
  await hover(page, t0 + 650, at.get('rank 0 · stream 7'));
  await page.mouse.down();
  await page.mouse.up();
  const details = page.locator('.tl-pin');
  await details.waitFor();
  const text = await details.textContent();
  assert.match(text, /kernel_b/);
  assert.match(text, /100\.0 µs \(100 µs\)/);
  const link = await details.locator('a', {hasText: 'as JSON'}).getAttribute('href');
  const event = await s.get(link);
  assert.equal(event.name, 'kernel_b');
  assert.equal(event.args.correlation, 2);
  await details.getByText('correlation').waitFor();
  const again = await open(`/${new URL(page.url()).search}`);
  await again.locator('.tl-pin').getByText('kernel_b').first().waitFor();
  await again.locator('.tl-box').focus();
  await again.keyboard.press('.');
  await again.locator('.tl-pin').getByText('Idle, kernel wait').waitFor();
  await again.keyboard.press('.');
  await again.locator('.tl-pin').getByText('kernel_c').first().waitFor();
  await again.keyboard.press('Escape');
  assert.equal(await again.locator('.tl-pin').isHidden(), true);
  assert.equal(query(again).sel, undefined);
  await page.close();
  await again.close();
});

test('wheel, keys, drag and buttons move the window, and the URL follows without new history', async () => {
  const page = await open('/?run=sample&tab=timeline');
  const box = await page.locator('canvas.tl-canvas').boundingBox();
  const entries = await page.evaluate(() => history.length);
  const span = () => Number(query(page).to) - Number(query(page).from);
  await page.mouse.move(box.x + 600, box.y + 80);
  await page.mouse.wheel(0, -400);
  await page.waitForURL(/from=/);
  await until(async () => span() > 0, 'a window');
  const first = span();
  await page.locator('.tl-box').focus();
  await page.keyboard.press('w');
  await until(() => span() < first * 0.7, 'w zooms in');
  const from = Number(query(page).from);
  await page.keyboard.press('d');
  await until(() => Number(query(page).from) > from, 'd goes right');
  await page.keyboard.press('s');
  await page.keyboard.press('s');
  await until(() => span() > first * 0.9, 's zooms out');
  const wide = span();
  await page.mouse.move(box.x + 500, box.y + 80);
  await page.mouse.down();
  await page.mouse.move(box.x + 560, box.y + 90, {steps: 3});
  await page.mouse.move(box.x + 700, box.y + 90, {steps: 3});
  await page.mouse.up();
  await until(() => span() < wide / 3, 'a drag selects a range');
  const share = 200 / (box.width - GUTTER);
  assert.ok(Math.abs(span() / wide - share) < 0.02, `${span() / wide} is not ${share}`);
  const before = {...query(page)};
  await page.keyboard.down('Shift');
  await page.mouse.move(box.x + 700, box.y + 80);
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 80, {steps: 4});
  await page.mouse.up();
  await page.keyboard.up('Shift');
  await until(() => Number(query(page).from) > Number(before.from), 'shift and drag pans');
  assert.ok(Math.abs(span() - (before.to - before.from)) < 0.01);
  await page.keyboard.press('0');
  await until(() => query(page).from === undefined, '0 shows the whole run');
  await page.keyboard.press(']');
  await until(() => query(page).from !== undefined, '] goes to a step');
  const step = sample.truth.ranks[0].steps;
  assert.ok(step.some((x) => Math.abs(span() - (x.dur_ns / 1000) * 1.02) < 2), `${span()} µs is a step with its margin`);
  assert.equal(await page.evaluate(() => history.length), entries);
  await page.close();
});

test('zoomed in, names come from the server\'s finer tiles', async () => {
  // The longest kernel of the trace, read from the file itself.
  const trace = JSON.parse(gunzipSync(fs.readFileSync(sample.files[0])));
  const kernels = trace.traceEvents.filter((e) => e.cat === 'kernel' && e.args?.stream === sample.truth.ranks[0].streams[0].stream);
  const first = Math.min(...trace.traceEvents.filter((e) => ['kernel', 'gpu_memcpy', 'gpu_memset'].includes(e.cat) && e.args?.stream === kernels[0].args.stream).map((e) => Number(e.ts)));
  const lane = (await lanes('sample')).find((l) => l.lane.startsWith('0/') && l.lane.endsWith(`/${kernels[0].args.stream}`));
  const short = kernels[Math.floor(kernels.length / 2)]; // an ordinary one, far too short for the whole run's pixels
  const start = Number(lane.start_us) + (Number(short.ts) - first);
  const page = await open(`/?run=sample&tab=timeline&rank=0&from=${(start - Number(short.dur)).toFixed(3)}&to=${(start + 2 * Number(short.dur)).toFixed(3)}`);
  const box = await page.locator('canvas.tl-canvas').boundingBox();
  let text = '';
  for (let y = 40; y < box.height && !text.includes(short.name); y += 6) {
    const tip = await hover(page, start + Number(short.dur) / 2, y);
    if (await tip.isVisible()) text = await tip.textContent();
  }
  assert.ok(text.includes(short.name.slice(0, 500)), `${text} names ${short.name}`);
  await page.close();
});

test('CPU threads on request, and back', async () => {
  const page = await open('/?run=sample&tab=timeline&rank=0');
  const height = await page.locator('canvas.tl-canvas').evaluate((c) => c.height);
  await page.getByLabel('CPU threads').check();
  await page.waitForURL(/lanes=all/);
  await page.locator('.tl .legend').getByText('operator').waitFor();
  await until(async () => (await page.locator('.tl-space').evaluate((e) => e.offsetHeight)) > 0 || (await page.locator('canvas.tl-canvas').evaluate((c) => c.height)) > height, 'more lanes');
  await page.getByLabel('CPU threads').uncheck();
  await until(() => query(page).lanes === undefined, 'the URL forgets it');
  await page.close();
});

test('a gap of the idle tab leads to its place on the timeline', async () => {
  const page = await s.page('/?run=hand&tab=idle');
  const link = page.locator('section').filter({hasText: 'Longest gaps'}).locator('tbody a').first();
  await link.waitFor();
  await link.click();
  await page.locator('.tl-pin').getByText('Idle, host wait: 300.0 µs').waitFor();
  await page.close();
});

test('"Kernels in sight" is the kernel table of the window, and the chip lets go of it', async () => {
  const t0 = await handStart();
  const page = await open(`/?run=hand&tab=timeline&from=${t0 + 350}&to=${t0 + 950}`);
  await page.getByRole('link', {name: 'Kernels in sight'}).click();
  await page.waitForURL(/tab=kernels/);
  // kernel_a ended before the window; the others start in it.
  assert.deepEqual((await kernelRows(page)).map((r) => r.full).sort(), HAND.slice(1).map((k) => k.name).sort());
  await page.getByRole('button', {name: /600\.0 µs from/}).click();
  await until(async () => (await kernelRows(page)).length === HAND.length, 'all kernels');
  assert.equal(query(page).from, undefined);
  await page.close();
});

test('a kernel leads from the table to the timeline, where the others step back', async () => {
  const page = await s.page('/?run=hand&tab=kernels');
  await page.locator('button.expand', {hasText: 'kernel_c'}).click();
  await page.getByRole('link', {name: 'Find on the timeline'}).click();
  await page.locator('canvas.tl-canvas').waitFor();
  assert.equal(query(page).hl, 'kernel_c');
  await page.getByRole('button', {name: /only kernel_c/}).click();
  await until(() => query(page).hl === undefined, 'the others are back');
  await page.close();
});
