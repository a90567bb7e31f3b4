// Mouse, touch and keys of the timeline. Nothing here knows what is drawn.

import {GUTTER} from './timeline-draw.js';

const CLICK = 4; // px that a pointer may move and still click

export function listen(t, signal) {
  const on = (target, type, f, options) => target.addEventListener(type, f, {signal, ...options});
  on(t.scroller, 'scroll', () => { hide(t); t.dirty(); }, {passive: true});
  on(t.scroller, 'wheel', (e) => wheel(t, e), {passive: false});
  on(t.scroller, 'keydown', (e) => key(t, e));
  on(t.canvas, 'pointerdown', (e) => press(t, e));
  on(t.canvas, 'pointermove', (e) => { if (!t.drag) hover(t, e); });
  on(t.canvas, 'pointerleave', () => hide(t));
  on(t.canvas, 'dblclick', (e) => {
    const span = t.hit(...place(t, e));
    if (span) zoomTo(t, span);
  });
  on(t.mini, 'pointerdown', (e) => mini(t, e));
}

function place(t, e) {
  const r = t.canvas.getBoundingClientRect();
  return [e.clientX - r.left, e.clientY - r.top];
}

function hide(t) {
  t.tip.hidden = true;
  if (t.hover) { t.hover = null; t.dirty(); }
  t.canvas.classList.remove('hit');
}

function hover(t, e) {
  const [x, y] = place(t, e);
  const span = t.hit(x, y);
  t.canvas.classList.toggle('hit', Boolean(span));
  if (t.hover?.lane.key !== span?.lane.key) t.dirty();
  t.hover = span;
  t.showTip(span, x, y);
}

/** The wheel zooms around the cursor; in a page that scrolls itself only once the timeline has the focus, or with ctrl. */
function wheel(t, e) {
  const alone = t.tall || e.ctrlKey || e.metaKey || document.activeElement === t.scroller;
  const [x] = place(t, e);
  if (!alone || e.altKey || x < GUTTER) return; // scrolls: the lanes, or the page
  e.preventDefault();
  const unit = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? 400 : 1;
  if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) t.pan(((e.deltaX || e.deltaY) * unit) / (t.width - GUTTER));
  else t.zoom(2 ** Math.max(-1.5, Math.min(1.5, (e.deltaY * unit) / 250)), t.timeAt(x));
}

/** Shift, the middle button or a finger pans; else a drag selects a range to zoom into; without a move it is a click. */
function press(t, e) {
  if (e.button > 1) return;
  const [x0, y0] = place(t, e);
  const from = {...t.view};
  const panning = e.shiftKey || e.button === 1 || e.pointerType === 'touch' || x0 < GUTTER;
  t.scroller.focus({preventScroll: true});
  t.canvas.setPointerCapture(e.pointerId);
  hide(t);
  t.drag = {moved: false};
  const move = (m) => {
    const [x] = place(t, m);
    if (Math.abs(x - x0) > CLICK) t.drag.moved = true;
    if (!t.drag.moved) return;
    if (panning) {
      t.canvas.classList.add('pan');
      const by = ((x0 - x) / (t.width - GUTTER)) * (from.to - from.from);
      t.set(from.from + by, from.to + by);
    } else {
      t.range = {from: t.timeAt(x0), to: t.timeAt(Math.max(GUTTER, Math.min(t.width, x)))};
      t.dirty();
    }
  };
  const stop = (m) => {
    done.abort();
    t.canvas.classList.remove('pan');
    const {moved} = t.drag;
    const {range} = t;
    t.drag = null;
    t.range = null;
    if (m.type === 'pointercancel') t.dirty();
    else if (!moved) t.setPin(t.hit(x0, y0));
    else if (range) t.set(Math.min(range.from, range.to), Math.max(range.from, range.to));
  };
  const done = new AbortController();
  t.cancelDrag = () => { done.abort(); t.drag = null; t.range = null; t.dirty(); };
  t.canvas.addEventListener('pointermove', move, {signal: done.signal});
  t.canvas.addEventListener('pointerup', stop, {signal: done.signal});
  t.canvas.addEventListener('pointercancel', stop, {signal: done.signal});
}

/** The strip of the whole run: a press puts the window's middle there, a drag takes it along. */
function mini(t, e) {
  const done = new AbortController();
  const to = (m) => {
    const r = t.mini.getBoundingClientRect();
    const at = t.data.from + ((m.clientX - r.left - GUTTER) / (r.width - GUTTER)) * (t.data.to - t.data.from);
    const half = (t.view.to - t.view.from) / 2;
    t.set(at - half, at + half);
  };
  t.mini.setPointerCapture(e.pointerId);
  t.mini.addEventListener('pointermove', to, {signal: done.signal});
  for (const type of ['pointerup', 'pointercancel']) t.mini.addEventListener(type, () => done.abort(), {signal: done.signal});
  to(e);
}

function zoomTo(t, span) {
  const edge = (span.end - span.start) * 0.15 || 0.05;
  t.set(span.start - edge, span.end + edge);
}

function key(t, e) {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const pages = t.height * 0.8;
  const act = {
    w: () => t.zoom(0.6), '+': () => t.zoom(0.6), '=': () => t.zoom(0.6), s: () => t.zoom(1 / 0.6), '-': () => t.zoom(1 / 0.6),
    a: () => t.pan(-0.15), d: () => t.pan(0.15), ArrowLeft: () => t.pan(-0.15), ArrowRight: () => t.pan(0.15),
    ArrowUp: () => t.scroller.scrollBy(0, -48), ArrowDown: () => t.scroller.scrollBy(0, 48),
    PageUp: () => t.scroller.scrollBy(0, -pages), PageDown: () => t.scroller.scrollBy(0, pages),
    0: () => t.whole(), Home: () => t.whole(), f: () => t.pin && zoomTo(t, t.pin),
    '[': () => t.step(-1), ']': () => t.step(1), ',': () => t.walk(-1), '.': () => t.walk(1),
    Escape: () => (t.drag ? t.cancelDrag() : t.setPin(null)),
  }[e.key.length === 1 ? e.key.toLowerCase() : e.key];
  if (!act) return;
  e.preventDefault();
  e.stopPropagation();
  act();
}
