// What the tests stand on: a real server on a free port over an empty store, real traces, a real browser.

import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {after, before} from 'node:test';
import {chromium} from 'playwright-core';

const BIN = process.env.HOLOSCOPE_BIN;
const GENTRACE = process.env.HOLOSCOPE_GENTRACE;
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

/** gentrace into a folder: {dir, files, truth}. */
export function generate(root, name, ...options) {
  const dir = path.join(root, name);
  fs.mkdirSync(dir, {recursive: true});
  execFileSync(GENTRACE, ['--out', dir, '--gzip', ...options]);
  const truth = JSON.parse(fs.readFileSync(path.join(dir, 'truth.json'), 'utf8'));
  return {dir, truth, files: truth.ranks.map((r) => path.join(dir, r.file))};
}

/** A Kineto trace of kernels, written to a file: kernels are {name, ts, dur, stream} in µs. */
export function writeTrace(file, kernels, more = {}) {
  const traceEvents = kernels.map((k, i) => ({
    ph: 'X', cat: 'kernel', name: k.name, pid: 0, tid: k.stream ?? 7, ts: 1000 + k.ts, dur: k.dur,
    args: {device: 0, stream: k.stream ?? 7, correlation: i + 1, ...k.args},
  }));
  kernels.forEach((k, i) => traceEvents.push({ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 1, tid: 1, ts: 1000 + (k.launch ?? k.ts - 5), dur: 2, args: {correlation: i + 1}}));
  fs.writeFileSync(file, JSON.stringify({schemaVersion: 1, distributedInfo: {rank: 0, world_size: 1}, ...more, traceEvents}));
  return file;
}

function startServer(data, config) {
  const child = spawn(BIN, ['serve', '--listen', '127.0.0.1:0', '--data', data, ...(config ? ['--config', config] : [])], {stdio: ['ignore', 'pipe', 'inherit']});
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const url = /http:\/\/\S+/.exec(text);
      if (url) resolve({child, url: url[0].replace(/\/$/, '')});
    });
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}: ${text}`)));
  });
}

/**
 * Sets up one server and one browser for a test file: {root, url, page()}. Any exception of the page and any error on
 * its console fails the file; answers of 4xx that a test provokes are the server's business and no error of the page.
 * `options.config(root)`: text of a configuration file. `fill` puts into the store what the tests need: one hook, for node does not wait for one hook before the next.
 */
export function site(fill = () => {}, options = {}) {
  const s = {errors: []};
  before(async () => {
    assert.ok(BIN && GENTRACE, 'HOLOSCOPE_BIN and HOLOSCOPE_GENTRACE name the programs');
    s.root = fs.mkdtempSync(path.join(os.tmpdir(), 'holoscope-web-'));
    const config = options.config ? path.join(s.root, 'config.toml') : null;
    if (config) fs.writeFileSync(config, options.config(s.root));
    s.server = await startServer(path.join(s.root, 'data'), config);
    s.url = s.server.url;
    s.context = await chromium.launchPersistentContext(path.join(s.root, 'profile'), {
      executablePath: CHROMIUM, args: FLAGS, viewport: {width: 1400, height: 900}, colorScheme: options.colorScheme ?? 'dark',
    });
    s.context.setDefaultTimeout(20000);
    await fill(s);
  });
  after(async () => {
    await s.context?.close();
    const ended = new Promise((resolve) => { s.server?.child.removeAllListeners('exit').on('exit', resolve); });
    s.server?.child.kill('SIGTERM');
    if (s.server) assert.equal(await ended, 0, 'the server ends with 0');
    fs.rmSync(s.root, {recursive: true, force: true});
    assert.deepEqual(s.errors, [], 'errors on the page');
  });
  s.page = async (address = '/') => {
    const page = await s.context.newPage();
    page.on('pageerror', (e) => s.errors.push(String(e.stack)));
    page.on('console', (m) => { if (m.type() === 'error' && !/Failed to load resource/.test(m.text())) s.errors.push(m.text()); });
    await page.goto(s.url + address);
    return page;
  };
  s.get = async (address) => (await fetch(s.url + address)).json();
  /** Past the page, for tests that are not about uploads. */
  s.put = async (file, run, rank) => {
    const query = new URLSearchParams({name: path.basename(file), run, ...(rank === undefined ? {} : {rank})});
    const r = await fetch(`${s.url}/api/v1/traces?${query}`, {method: 'PUT', body: fs.readFileSync(file)});
    assert.equal(r.status, 201, await r.clone().text());
    return r.json();
  };
  return s;
}

/** The query of the page's address as an object. */
export const query = (page) => Object.fromEntries(new URL(page.url()).searchParams);

/** Waits until f() is true; for what has no element to wait for. */
export async function until(f, what) {
  for (let i = 0; i < 400; i++) {
    if (await f()) return;
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
  assert.fail(`never: ${what}`);
}

/** The kernel table as it is shown: full name, short name, and each cell's text by its column's key. */
export async function kernelRows(page) {
  await page.locator('table.data tbody .name').first().waitFor();
  return page.locator('section[aria-label=Kernels], main').last().evaluate((main) => {
    const table = [...main.querySelectorAll('table')].find((t) => t.caption.textContent === 'Kernels');
    const keys = [...table.tHead.rows[0].cells].map((th) => th.dataset.key);
    return [...table.tBodies[0].querySelectorAll('tr[aria-rowindex]')].map((tr) => {
      const row = Object.fromEntries(keys.map((k, i) => [k, tr.cells[i].textContent]));
      row.full = tr.querySelector('.name').title;
      return row;
    });
  });
}
