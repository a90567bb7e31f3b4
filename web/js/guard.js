import {Problem} from './api.js';
import {fill, h} from './dom.js';

/** One part that fails says so in its own place; the others stay. */
export async function guard(box, signal, work) {
  try {
    await work();
  } catch (e) {
    if (e.name === 'AbortError' || signal.aborted) return;
    fill(box, h('p', {class: 'error-box', role: 'alert'}, e.message));
    if (!(e instanceof Problem)) console.error(e);
  }
}
