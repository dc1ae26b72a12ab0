// Elements and text. Nothing here reads HTML out of a string: what the document says is only ever text.

/** h makes an element: h('a', {href, class, onclick}, ...children). */
export function h(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((c) => c !== undefined && c !== null && c !== false));
  return element;
}

// inline reads `code`, **strong** and bare links.
function inline(text) {
  const parts = text.split(/(`[^`]+`|\*\*[^*]+\*\*|https?:\/\/[^\s)]+)/);
  return parts.filter(Boolean).map((part) => {
    if (part.startsWith('`')) return h('code', {}, part.slice(1, -1));
    if (part.startsWith('**')) return h('strong', {}, part.slice(2, -2));
    if (/^https?:/.test(part)) return h('a', { href: part, rel: 'noreferrer' }, part);
    return part;
  });
}

/** prose makes paragraphs and lists of the Markdown that comments are written in. */
export function prose(text) {
  return (text ?? '').split('\n\n').filter(Boolean).flatMap((block) => {
    const out = [];
    let list;
    for (const line of block.split('\n')) {
      const item = line.match(/^\s*[*-] (.*)$/);
      if (!item) {
        list = undefined;
        out.push(h('p', {}, inline(line)));
        continue;
      }
      if (!list) out.push((list = h('ul')));
      list.append(h('li', {}, inline(item[1])));
    }
    return out;
  });
}

/** code shows text as code, with a button that copies it. JSON is coloured. */
export function code(text, { json = false, label = 'Copy' } = {}) {
  const button = h('button', {
    type: 'button', class: 'copy',
    onclick: async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = 'Copied';
      } catch {
        button.textContent = 'Select the text to copy it';
      }
      setTimeout(() => { button.textContent = label; }, 1500);
    },
  }, label);
  return h('div', { class: 'code' }, button, h('pre', { tabindex: '0' }, h('code', {}, json ? coloured(text) : text)));
}

function coloured(text) {
  return text.split(/("(?:[^"\\]|\\.)*"\s*:|"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*)/).filter(Boolean).map((part) => {
    if (/^".*:$/s.test(part)) return h('span', { class: 'name' }, part);
    if (part.startsWith('"')) return h('span', { class: 'text' }, part);
    if (/^(true|false|null|-?\d)/.test(part)) return h('span', { class: 'atom' }, part);
    return part;
  });
}

export const pretty = (value) => JSON.stringify(value, null, 2);
