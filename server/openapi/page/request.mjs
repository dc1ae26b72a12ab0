// What is sent: the curl command, and the form that tries an operation on this server.
import { code, h, pretty } from './markup.mjs';

const json = 'application/json';

/** bodyOf is the example body of an operation, as text. */
export function bodyOf(operation) {
  const content = operation.requestBody?.content?.[json];
  return content ? pretty(content.example ?? {}) : undefined;
}

/** address fills in path parameters and adds the query. */
export function address(base, path, values) {
  const filled = path.replace(/{([^}]+)}/g, (_, name) => encodeURIComponent(values.path?.[name] ?? `{${name}}`).replace(/%7B|%7D/g, (c) => (c === '%7B' ? '{' : '}')));
  const query = new URLSearchParams(Object.entries(values.query ?? {}).filter(([, v]) => v !== '' && v !== undefined));
  return base.replace(/\/$/, '') + filled + (query.size ? '?' + query : '');
}

const quoted = (text) => "'" + text.replaceAll("'", "'\\''") + "'";

/** curl is the command that sends the operation. */
export function curl(server, method, path, operation, values = exampleValues(operation), body = bodyOf(operation)) {
  const lines = [`curl -sS ${method === 'get' ? '' : '-X ' + method.toUpperCase() + ' '}${quoted(address(server, path, values))}`];
  if (operation.security?.length) lines.push('-H "Authorization: Bearer $SVC_API_KEY"');
  if (body !== undefined) lines.push(`-H 'Content-Type: ${json}'`, '-d ' + quoted(body));
  return lines.join(' \\\n  ');
}

function exampleValues(operation) {
  const values = { path: {}, query: {} };
  for (const p of operation.parameters ?? []) {
    if (p.example !== undefined && (p.in === 'path' || p.required)) values[p.in][p.name] = String(p.example);
  }
  return values;
}

function input(parameter) {
  const id = `try-${parameter.in}-${parameter.name}`;
  const choices = parameter.schema.enum ?? (parameter.schema.type === 'boolean' ? ['true', 'false'] : undefined);
  const control = choices
    ? h('select', { id }, h('option', { value: '' }, parameter.required ? 'choose…' : 'left out'), choices.map((c) => h('option', { value: c }, c)))
    : h('input', { id, autocomplete: 'off', spellcheck: 'false', placeholder: parameter.example === undefined ? '' : String(parameter.example) });
  return {
    parameter, control,
    row: h('label', { for: id }, h('span', {}, h('code', {}, parameter.name), parameter.required && h('span', { class: 'must' }, 'required')), control),
  };
}

/** tryIt is the form. Base is this server; key() is the credential that the reader pasted, which stays in this page. */
export function tryIt(base, method, path, operation, key) {
  const fields = (operation.parameters ?? []).filter((p) => p.in === 'path' || p.in === 'query').map(input);
  const example = bodyOf(operation);
  const body = example === undefined ? undefined : h('textarea', { rows: Math.min(16, example.split('\n').length + 1), spellcheck: 'false', 'aria-label': 'Request body' });
  if (body) body.value = example;
  const result = h('div', { class: 'result', 'aria-live': 'polite' });
  const button = h('button', { type: 'submit', class: 'send' }, method === 'get' ? 'Send' : `Send ${method.toUpperCase()}`);

  async function send(event) {
    event.preventDefault();
    const values = { path: {}, query: {} };
    for (const { parameter, control } of fields) {
      const value = control.value.trim();
      if (!value && parameter.in === 'path') {
        result.replaceChildren(h('p', { class: 'bad' }, `${parameter.name} is part of the path: fill it in.`));
        control.focus();
        return;
      }
      values[parameter.in][parameter.name] = value;
    }
    if (operation.security?.length && !key()) {
      result.replaceChildren(h('p', { class: 'bad' }, 'Paste an API key at the top of the page first. It stays in this page and goes only to this server.'));
      document.getElementById('key').focus();
      return;
    }
    button.disabled = true;
    const started = performance.now();
    try {
      const headers = {};
      if (operation.security?.length) headers.Authorization = `Bearer ${key()}`;
      if (body) headers['Content-Type'] = json;
      const answer = await fetch(address(base, path, values), { method: method.toUpperCase(), headers, body: body?.value, cache: 'no-store', credentials: 'omit' });
      const text = await answer.text();
      show(answer, text, Math.round(performance.now() - started));
    } catch (error) {
      result.replaceChildren(h('p', { class: 'bad' }, `The server could not be reached: ${error.message}`));
    } finally {
      button.disabled = false;
    }
  }

  function show(answer, text, milliseconds) {
    let shown = text, isJSON = false;
    try {
      shown = pretty(JSON.parse(text));
      isJSON = true;
    } catch { /* shown as it came */ }
    const retry = answer.headers.get('Retry-After');
    result.replaceChildren(
      h('p', { class: 'status' }, h('strong', { class: answer.ok ? 'good' : 'bad' }, `${answer.status} ${answer.statusText}`),
        ` in ${milliseconds} ms`, retry && `, Retry-After ${retry}`, h('span', { class: 'faint' }, ` request ${answer.headers.get('X-Request-Id') ?? ''}`)),
      code(shown, { json: isJSON }));
  }

  return h('form', { class: 'try', onsubmit: send },
    fields.map((f) => f.row), body && h('label', {}, h('span', {}, 'Body'), body),
    h('div', { class: 'act' }, button, method !== 'get' && operation['x-svc-scope']?.endsWith(':write') && h('span', { class: 'faint' }, 'This changes data of the organization.')), result);
}
