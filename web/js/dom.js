// Elements are built here and nowhere through markup: every name a trace brings is text, never HTML.

/**
 * h('button', {class: 'quiet', type: 'button', onclick: f}, 'Text', child…)
 * `on…` are listeners, `style` is an object for the CSSOM (the CSP forbids style attributes), `text` is textContent,
 * true/false/null set or leave out an attribute. Children may be nodes, text, numbers, null, or arrays of these.
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style') for (const [p, v] of Object.entries(value)) element.style.setProperty(p, v);
    else if (name === 'text') element.textContent = value;
    else if (name === 'value') element.value = value;
    else if (name === 'checked') element.checked = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : String(child));
  }
}

export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** One sentence for screen readers, without moving the focus. */
export function say(sentence) {
  const live = document.getElementById('busy');
  if (live) live.textContent = sentence;
}

/** Calls f once things have been quiet for `ms`. */
export function debounce(f, ms) {
  let timer = 0;
  const later = (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => f(...args), ms);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

export async function copyText(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    // No clipboard without a secure context: show the text, selected, so that one key copies it.
    const area = h('textarea', {class: 'copy-fallback', rows: '4', 'aria-label': 'Text to copy', readonly: true, value: text});
    button.after(area);
    area.select();
    area.addEventListener('blur', () => area.remove(), {once: true});
    return;
  }
  setTimeout(() => { button.textContent = before; }, 1200);
}

export function copyButton(label, text) {
  return h('button', {type: 'button', class: 'quiet', onclick: (e) => copyText(typeof text === 'function' ? text() : text, e.currentTarget)}, label);
}
