// The URL holds the whole view; everything that changes what is seen goes through here. The state is a flat map of the
// query string, so that the server need not know the page's routes:
//   run tab rank q re class sort from to sel lanes a(nalysis) p.<parameter>…

const listeners = new Set();

export function state() {
  return Object.fromEntries(new URLSearchParams(location.search));
}

function merged(changes, base = state()) {
  const next = {...base, ...changes};
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(next)) {
    if (value !== null && value !== undefined && value !== '') query.set(name, value);
  }
  const text = query.toString();
  return text ? `/?${text}` : '/';
}

/** The address of a view; `{}` as base starts from nothing. */
export const href = (changes, base) => merged(changes, base);

/** Another page or tab: one more entry in the history, and the page is drawn anew. */
export function go(changes, base) {
  const target = merged(changes, base);
  if (target !== location.pathname + location.search) history.pushState(null, '', target);
  for (const f of listeners) f();
}

/** A setting within the page that "back" should undo (sort, filter, rank). Nothing is drawn anew. */
export function push(changes) {
  const target = merged(changes);
  if (target !== location.pathname + location.search) history.pushState(null, '', target);
}

/** Small and frequent changes (zoom, pan, typing): the same history entry. */
export function replace(changes) {
  history.replaceState(history.state, '', merged(changes));
}

export function onNavigate(f) {
  listeners.add(f);
}

/** Links with data-nav, and all built by `link`, move within the page; modified clicks stay the browser's. */
export function install() {
  window.addEventListener('popstate', () => { for (const f of listeners) f(); });
  document.addEventListener('click', (e) => {
    const a = e.target instanceof Element ? e.target.closest('a[data-nav]') : null;
    if (!a || e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    e.preventDefault();
    history.pushState(null, '', a.getAttribute('href'));
    for (const f of listeners) f();
  });
}
