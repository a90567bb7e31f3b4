// What holds for every page in both colour schemes: contrast, names and roles, no errors; and the size of things.

import assert from 'node:assert/strict';
import path from 'node:path';
import {describe, test} from 'node:test';
import {generate, site, until, writeTrace} from './harness.mjs';

const TABS = ['', 'kernels', 'timeline', 'idle', 'analyses', 'files'];
const MANY = 5000;

for (const colorScheme of ['dark', 'light']) {
  describe(colorScheme, () => {
    const s = site(async () => {
      const sample = generate(s.root, 'sample', '--ranks', '2', '--steps', '3', '--story', 'straggler');
      for (const file of sample.files) await s.put(file, 'sample');
    }, {colorScheme});

    const address = (tab) => `/?run=sample&tab=${tab}`;
    const ready = (page) => until(async () => (await page.locator('main table, main canvas').count()) > 0 && (await page.locator('main .loading').count()) === 0, 'the page is complete');

    test('the scheme is the one the system asks for', async () => {
      const page = await s.page();
      const [r] = (await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).match(/\d+/g).map(Number);
      assert.ok(colorScheme === 'dark' ? r < 60 : r > 200, String(r));
      await page.close();
    });

    test('all text has a contrast of 4.5 to 1 or more', async () => {
      for (const where of ['/', ...TABS.map(address)]) {
        const page = await s.page(where);
        if (where === '/') await page.locator('main tbody a').first().waitFor();
        else await ready(page);
        const poor = await page.evaluate(poorContrast);
        assert.deepEqual(poor, [], where);
        await page.close();
      }
    });

    test('controls have names, tables heads with scope and captions, one h1 on a run\'s page', async () => {
      for (const where of ['/', ...TABS.map(address)]) {
        const page = await s.page(where);
        if (where === '/') await page.locator('main tbody a').first().waitFor();
        else await ready(page);
        const wrong = await page.evaluate(() => {
          const out = [];
          for (const e of document.querySelectorAll('main button, main a, main input, main select, header button')) {
            const name = e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.[0]?.textContent.trim();
            if (!name) out.push(e.outerHTML.slice(0, 150));
          }
          for (const t of document.querySelectorAll('main table')) {
            if (!t.caption?.textContent) out.push('a table without a caption');
            for (const th of t.tHead.querySelectorAll('th')) if (th.scope !== 'col') out.push('a head without scope');
          }
          const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
          if (new Set(ids).size !== ids.length) out.push('an id twice');
          return out;
        });
        assert.deepEqual(wrong, [], where);
        if (where !== '/') assert.equal(await page.locator('main h1').count(), 1);
        await page.close();
      }
    });
  });
}

describe('every analysis of the registry', () => {
  const s = site(async () => {
    const sample = generate(s.root, 'sample', '--ranks', '2', '--steps', '2');
    for (const file of sample.files) await s.put(file, 'sample');
  });

  test('has a page with its form, its table and its documentation', async () => {
    const {analyses} = await s.get('/api/v1/analyses');
    assert.ok(analyses.length >= 9);
    for (const a of analyses) {
      // one that compares two runs asks for the other: here the run itself
      const page = await s.page(`/?run=sample&tab=analyses&a=${a.name}${a.two_runs ? '&p.other=sample' : ''}`);
      const result = page.locator('section[aria-label=Result]');
      await result.waitFor();
      const answer = await s.get(`/api/v1/runs/sample/${a.name}${a.two_runs ? '?other=sample' : ''}`);
      assert.deepEqual(await result.locator('thead th').evaluateAll((heads) => heads.map((h) => h.dataset.key)), answer.columns.map((c) => c.name), a.name);
      assert.equal(await result.locator('table').getAttribute('aria-rowcount'), String(answer.rows.length + 1), a.name);
      for (const p of a.params) assert.equal(await page.locator(`#param-${p.name}`).count(), 1, `${a.name} ${p.name}`);
      assert.equal(await page.locator('.doc').textContent(), a.doc ?? '');
      await page.close();
    }
  });

  test('takes its parameters from the form into the URL and to the server', async () => {
    const page = await s.page('/?run=sample&tab=analyses&a=idle-intervals');
    await page.locator('section[aria-label=Result]').waitFor();
    await page.locator('#param-list').selectOption('true');
    await page.locator('#param-longest').fill('3');
    await page.locator('#param-rank').fill('1');
    await page.getByRole('button', {name: 'Compute'}).click();
    await page.waitForURL(/p\.longest=3/);
    await until(async () => (await page.locator('section[aria-label=Result] table').getAttribute('aria-rowcount').catch(() => '')) === '4', 'three gaps');
    const wanted = await s.get('/api/v1/runs/sample/idle-intervals?list=true&longest=3&rank=1');
    assert.equal(wanted.rows.length, 3);
    await page.goBack();
    await until(async () => (await page.locator('#param-longest').inputValue().catch(() => '')) === '', 'back undoes it');
    await page.close();
  });

  test('shows the server\'s sentence for a parameter it refuses', async () => {
    const page = await s.page('/?run=sample&tab=analyses&a=timeline&p.px=-5');
    const alert = page.locator('main [role=alert]').first();
    await alert.waitFor();
    const {detail} = await s.get('/api/v1/runs/sample/timeline?px=-5');
    assert.equal(await alert.textContent(), detail);
    await page.close();
  });
});

describe('many rows', () => {
  const s = site(async () => {
    const kernels = Array.from({length: MANY}, (_, i) => ({name: `kernel_${i}`, ts: i * 10, dur: 1 + (i % 7)}));
    await s.put(writeTrace(path.join(s.root, 'many.json'), kernels), 'many');
  });

  test('only the rows in sight are in the page, all of them can be reached', async () => {
    const page = await s.page('/?run=many&tab=kernels&sort=name');
    await page.locator('button.expand').first().waitFor();
    assert.ok((await page.locator('tr[aria-rowindex]').count()) < 200);
    assert.equal(await page.locator('main table').last().getAttribute('aria-rowcount'), String(MANY + 1));
    const first = () => page.locator('tr[aria-rowindex="2"] .name').textContent();
    assert.equal(await first(), 'kernel_0');
    await page.locator('button.expand').first().focus();
    await page.keyboard.press('End');
    await page.locator(`tr[aria-rowindex="${MANY + 1}"]`).waitFor();
    assert.equal(await page.locator(`tr[aria-rowindex="${MANY + 1}"] .name`).textContent(), `kernel_${MANY - 1}`);
    assert.ok((await page.locator('tr[aria-rowindex]').count()) < 200);
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('.full-name').textContent(), `kernel_${MANY - 1}`);
    await page.close();
  });
});

/** Runs in the page: texts whose colour is too near to what lies behind them. */
function poorContrast() {
  const parse = (c) => {
    const n = c.match(/[\d.]+/g).map(Number);
    return c.startsWith('color(srgb') ? [n[0] * 255, n[1] * 255, n[2] * 255, n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1];
  };
  const over = (top, under) => top.slice(0, 3).map((v, i) => v * top[3] + under[i] * (1 - top[3])).concat(1);
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const stack = [];
    for (let e = element; e; e = e.parentElement) stack.push(parse(getComputedStyle(e).backgroundColor));
    return stack.reduceRight((under, top) => over(top, under), [255, 255, 255, 1]);
  };
  const out = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !e.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) || e.closest('.sr, .skip, noscript, script')) continue;
    const bg = behind(e);
    const fg = over(parse(getComputedStyle(e).color), bg);
    const [a, b] = [light(fg), light(bg)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) out.push(`${walker.currentNode.textContent.trim().slice(0, 40)} (${e.className}): ${ratio.toFixed(2)}`);
  }
  return out;
}
