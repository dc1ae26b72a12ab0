// Schemas as people read them: one row for each property, components open on demand.
import { h, prose } from './markup.mjs';

const prefix = '#/components/schemas/';
const nameOf = (ref) => ref.slice(prefix.length);

/** resolve follows a reference. */
export const resolve = (doc, schema) => (schema?.$ref ? doc.components.schemas[nameOf(schema.$ref)] : schema);

const typesOf = (schema) => [schema.type ?? []].flat();

// unwrap takes apart "a component or null".
function unwrap(schema) {
  const other = schema.anyOf?.find((s) => s.type !== 'null');
  return other ? { inner: other, nullable: schema.anyOf.some((s) => s.type === 'null') } : { inner: schema, nullable: typesOf(schema).includes('null') };
}

/** typeText is `string`, `ApiKey[]`, `map of integer`. Components are links. */
export function typeText(doc, schema) {
  const { inner, nullable } = unwrap(schema);
  const parts = [baseText(doc, inner)];
  if (nullable) parts.push(h('span', { class: 'faint' }, ' or null'));
  return parts;
}

function baseText(doc, schema) {
  if (schema.$ref) return h('a', { href: '#/schema/' + nameOf(schema.$ref) }, nameOf(schema.$ref));
  if (schema.oneOf) return schema.oneOf.flatMap((s, i) => [i ? ' or ' : '', baseText(doc, s)]);
  const types = typesOf(schema).filter((t) => t !== 'null');
  if (types[0] === 'array') return ['list of ', baseText(doc, schema.items ?? {})];
  if (types[0] === 'object' && schema.additionalProperties?.type) return ['map of ', baseText(doc, schema.additionalProperties)];
  if (schema.format === 'date-time') return 'time';
  return types.join(' or ') || 'any value';
}

/** limits are the constraints of a schema, in words. */
export function limits(schema) {
  const { inner } = unwrap(schema);
  const s = inner.items && !inner.items.$ref ? { ...inner.items, ...inner } : inner;
  const out = [];
  const say = (...words) => out.push(h('span', { class: 'limit' }, ...words));
  const values = (inner.enum ?? inner.items?.enum ?? []).filter((v) => v !== null);
  if (s.const !== undefined) say('always ', h('code', {}, JSON.stringify(s.const)));
  if (values.length) say('one of ', values.flatMap((v, i) => [i ? ', ' : '', h('code', {}, String(v))]));
  if (s.minimum !== undefined && s.maximum !== undefined) say(`${s.minimum} to ${s.maximum}`);
  else if (s.minimum !== undefined) say(`at least ${s.minimum}`);
  else if (s.maximum !== undefined) say(`at most ${s.maximum}`);
  if (s.exclusiveMinimum !== undefined) say(`more than ${s.exclusiveMinimum}`);
  if (s.exclusiveMaximum !== undefined) say(`less than ${s.exclusiveMaximum}`);
  if (s.minLength !== undefined) say(`at least ${s.minLength} characters`);
  if (s.maxLength !== undefined) say(`at most ${s.maxLength} characters`);
  if (s.minItems !== undefined) say(`at least ${s.minItems} element${s.minItems === 1 ? '' : 's'}`);
  if (s.maxItems !== undefined) say(`at most ${s.maxItems} elements`);
  if (s.uniqueItems) say('no element twice');
  if (s.pattern && s.format !== 'date-time' && s.format !== 'svc.public_id') say('matches ', h('code', {}, s.pattern));
  if (s.format === 'svc.public_id') say('id ', h('code', {}, s.pattern.match(/^\^([a-z]+_)/)?.[1] + '…'));
  const example = schema.examples?.[0] ?? s.examples?.[0];
  if (example !== undefined && s.const === undefined && !values.length) say('for example ', h('code', {}, String(example)));
  return out;
}

// within finds the object that a schema leads to, through lists, maps and null.
function within(doc, schema) {
  let { inner } = unwrap(schema);
  if (inner.items) inner = inner.items;
  else if (inner.additionalProperties?.$ref) inner = inner.additionalProperties;
  const target = resolve(doc, inner);
  return target?.properties ? target : undefined;
}

/** properties lists an object's properties. Request says whether "required" is worth a word. */
export function properties(doc, schema, { request = false, depth = 0 } = {}) {
  const object = resolve(doc, schema);
  if (!object?.properties) return h('div', { class: 'rows' }, h('div', { class: 'row' }, typeText(doc, schema), limits(schema)));
  return h('div', { class: 'rows' }, Object.entries(object.properties).map(([name, property]) => {
    const required = object.required?.includes(name);
    const inner = depth < 8 ? within(doc, property) : undefined;
    const row = h('div', { class: 'row' },
      h('div', { class: 'head' },
        h('code', { class: 'field' }, name), ' ', h('span', { class: 'type' }, typeText(doc, property)),
        request && required && h('span', { class: 'must' }, 'required'),
        !request && !required && h('span', { class: 'faint' }, 'not always present')),
      limits(property).length > 0 && h('div', { class: 'limits' }, limits(property)),
      h('div', { class: 'words' }, prose(property.description)));
    if (inner) {
      const nested = h('details', { class: 'nested' }, h('summary', {}, 'Fields of ', h('code', {}, name)));
      // Filled when it is opened: a schema may hold itself.
      nested.addEventListener('toggle', () => {
        if (nested.open && nested.childElementCount === 1) nested.append(properties(doc, inner, { request, depth: depth + 1 }));
      });
      row.append(nested);
    }
    return row;
  }));
}
