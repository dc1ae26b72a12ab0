// The reference: a list of operations, and one page for each operation and component. It shows the document of this server.
import { code, h, pretty, prose } from './markup.mjs';
import { curl, tryIt } from './request.mjs';
import { limits, properties, typeText } from './schema.mjs';

const json = 'application/json';
const byId = (id) => document.getElementById(id);
const main = byId('main');
// The page is at …/v2/docs, so everything of this server is two steps up.
const base = new URL('../', location.href).href;
const methods = ['get', 'post', 'put', 'patch', 'delete'];

let doc;
let operations = [];

function readOperations() {
  for (const [path, item] of Object.entries(doc.paths)) {
    for (const method of methods) {
      if (item[method]) operations.push({ path, method, operation: item[method], id: item[method].operationId, tag: item[method].tags[0] });
    }
  }
}

const badge = (method) => h('span', { class: `method ${method}` }, method.toUpperCase());

function link(entry) {
  return h('a', { href: '#/' + entry.id, class: 'entry', 'data-id': entry.id }, badge(entry.method), h('span', {}, entry.operation.summary));
}

function fillList(wanted = '') {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (e) => `${e.id} ${e.path} ${e.method} ${e.tag} ${e.operation.summary} ${e.operation.description}`.toLowerCase();
  const title = (e) => `${e.id} ${e.path} ${e.operation.summary}`.toLowerCase();
  // Where the words stand as they were typed comes first, then where the title has them all.
  const rank = (e) => (title(e).includes(words.join(' ')) ? 0 : words.every((w) => title(e).includes(w)) ? 1 : 2);
  const found = operations.filter((e) => words.every((w) => text(e).includes(w))).sort((a, b) => rank(a) - rank(b));
  const groups = words.length ? [{ name: found.length + ' found', entries: found }].filter((g) => found.length) : doc.tags.map(({ name }) => ({ name, entries: found.filter((e) => e.tag === name) })).filter((g) => g.entries.length);
  const names = Object.keys(doc.components.schemas).filter((n) => !n.endsWith('Error') && words.every((w) => n.toLowerCase().includes(w)));
  byId('list').replaceChildren(
    ...groups.map((g) => h('section', {}, h('h2', {}, g.name), g.entries.map(link))),
    h('details', { open: words.length > 0 }, h('summary', {}, 'Schemas'), names.map((n) => h('a', { href: '#/schema/' + n, class: 'entry', 'data-id': 'schema/' + n }, n))),
    found.length + names.length === 0 && h('p', { class: 'faint' }, 'Nothing matches.') || '');
  markCurrent();
}

function markCurrent() {
  const id = decodeURIComponent(location.hash.replace(/^#\/?/, ''));
  for (const a of byId('list').querySelectorAll('a')) a.toggleAttribute('aria-current', a.dataset.id === id);
  byId('list').querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
}

function overview() {
  return h('article', {},
    h('h1', {}, doc.info.title), prose(doc.info.description),
    h('h2', {}, 'Address'), code(doc.servers[0].url),
    h('h2', {}, 'Credential'), prose(doc.components.securitySchemes.bearer.description),
    doc.tags.map((t) => h('section', {}, h('h2', {}, t.name), t.description !== t.name + '.' && prose(t.description),
      h('div', { class: 'cards' }, operations.filter((e) => e.tag === t.name).map((e) =>
        h('a', { class: 'card', href: '#/' + e.id }, h('div', {}, badge(e.method), h('code', {}, e.path)), h('span', {}, e.operation.summary)))))));
}

function parameters(list) {
  return h('div', { class: 'rows' }, list.map((p) => h('div', { class: 'row' },
    h('div', { class: 'head' }, h('code', { class: 'field' }, p.name), ' ', h('span', { class: 'type' }, typeText(doc, p.schema)), p.required && h('span', { class: 'must' }, 'required')),
    h('div', { class: 'limits' }, limits(p.schema), p.example !== undefined && h('span', { class: 'limit' }, 'for example ', h('code', {}, String(p.example)))),
    h('div', { class: 'words' }, prose(p.description)))));
}

function failures(responses) {
  const rows = Object.entries(responses).filter(([status]) => status !== '200').flatMap(([status, r]) => {
    const schema = r.content[json].schema;
    return (schema.oneOf ?? [schema]).map(({ $ref }) => {
      const name = $ref.split('/').pop();
      const e = doc.components.schemas[name].properties.error.properties;
      return h('tr', {}, h('td', {}, status), h('td', {}, h('code', {}, e._tag.const)), h('td', {}, h('code', {}, e.code.const)), h('td', {}, doc.components.schemas[name].description), h('td', {}, e.recovery.const));
    });
  });
  return h('div', { class: 'wide' }, h('table', {}, h('thead', {}, h('tr', {}, ['Status', '_tag', 'code', 'Meaning', 'Recovery'].map((t) => h('th', {}, t)))), h('tbody', {}, rows)));
}

function operationPage({ path, method, operation, tag }) {
  const body = operation.requestBody?.content[json];
  const success = operation.responses['200'];
  const places = [['path', 'Path'], ['query', 'Query']].map(([place, title]) => [title, (operation.parameters ?? []).filter((p) => p.in === place)]).filter(([, list]) => list.length);
  return h('article', { class: 'operation' },
    h('div', { class: 'about' },
      h('p', { class: 'crumb' }, tag), h('h1', {}, operation.summary),
      h('p', { class: 'route' }, badge(method), h('code', {}, path.split(/({[^}]+})/).map((s) => (s.startsWith('{') ? h('em', {}, s) : s)))),
      h('p', { class: 'needs' }, h('span', { class: 'pill' }, operation.operationId),
        operation['x-svc-scope'] && h('span', { class: 'pill scope' }, 'scope ' + operation['x-svc-scope']),
        operation['x-svc-role'] && h('span', { class: 'pill role' }, 'role ' + operation['x-svc-role']),
        !operation.security.length && h('span', { class: 'pill' }, 'no credential')),
      prose(operation.description),
      places.map(([title, list]) => [h('h2', {}, title), parameters(list)]),
      body && [h('h2', {}, 'Body'), prose(operation.requestBody.description), properties(doc, body.schema, { request: true })],
      h('h2', {}, 'Answer'), prose(success.description), h('p', { class: 'type' }, typeText(doc, success.content[json].schema)), properties(doc, success.content[json].schema),
      h('h2', {}, 'Failures'), failures(operation.responses)),
    h('div', { class: 'side' },
      h('h2', {}, 'curl'), code(curl(doc.servers[0].url, method, path, operation)),
      h('h2', {}, 'Try it'), tryIt(base, method, path, operation, () => byId('key').value.trim()),
      success.content[json].example !== undefined && [h('h2', {}, 'Example answer'), code(pretty(success.content[json].example), { json: true })]));
}

function schemaPage(name) {
  const schema = doc.components.schemas[name];
  const users = operations.filter((e) => JSON.stringify(e.operation).includes(`"#/components/schemas/${name}"`));
  return h('article', {}, h('p', { class: 'crumb' }, 'Schema'), h('h1', {}, name), prose(schema.description),
    schema.properties ? properties(doc, schema, { request: schema.additionalProperties === false }) : h('p', {}, typeText(doc, schema), ' ', limits(schema)),
    users.length > 0 && [h('h2', {}, 'Used by'), h('div', { class: 'cards' }, users.map((e) => h('a', { class: 'card', href: '#/' + e.id }, h('div', {}, badge(e.method), h('code', {}, e.path)), h('span', {}, e.operation.summary))))]);
}

function show() {
  const id = decodeURIComponent(location.hash.replace(/^#\/?/, ''));
  const entry = operations.find((e) => e.id === id);
  const schema = id.startsWith('schema/') ? id.slice(7) : undefined;
  if (entry) main.replaceChildren(operationPage(entry));
  else if (schema && doc.components.schemas[schema]) main.replaceChildren(schemaPage(schema));
  else main.replaceChildren(overview());
  document.title = `${entry?.operation.summary ?? schema ?? 'svc'} · API reference`;
  document.body.classList.remove('menu');
  byId('menu').setAttribute('aria-expanded', 'false');
  markCurrent();
  scrollTo(0, 0);
}

function theme() {
  const saved = localStorage.getItem('svc-theme');
  if (saved) document.documentElement.dataset.theme = saved;
  byId('theme').addEventListener('click', () => {
    const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    document.documentElement.dataset.theme = dark ? 'light' : 'dark';
    localStorage.setItem('svc-theme', document.documentElement.dataset.theme);
  });
}

theme();
try {
  const answer = await fetch(new URL('openapi.json', base));
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  doc = await answer.json();
  readOperations();
  byId('version').textContent = doc.info.version;
  byId('search').addEventListener('input', (e) => fillList(e.target.value));
  byId('search').addEventListener('keydown', (e) => { if (e.key === 'Enter') byId('list').querySelector('a')?.click(); });
  addEventListener('keydown', (e) => {
    if (e.key === '/' && !/^(input|textarea|select)$/i.test(e.target.tagName)) {
      e.preventDefault();
      byId('search').focus();
    }
  });
  byId('menu').addEventListener('click', () => byId('menu').setAttribute('aria-expanded', String(document.body.classList.toggle('menu'))));
  addEventListener('hashchange', show);
  fillList();
  show();
} catch (error) {
  main.replaceChildren(h('p', { class: 'bad' }, `The document could not be loaded: ${error.message}`));
}
