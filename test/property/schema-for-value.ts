import fc, { type GeneratorValue } from 'fast-check';
import type { JsonObject, JsonValue } from '../../gateway/ports/json.js';

/** A name that the linter takes for a promise's. */
const THEN = 'then';

/** What a schema may say of a text of base64, so that the text is valid. */
const OF_BASE64: readonly ((text: string) => JsonObject)[] = [
  () => ({}),
  () => ({ type: 'string' }),
  () => ({ type: ['string', 'null'] }),
  () => ({ type: 'string', contentEncoding: 'base64', contentMediaType: 'image/png' }),
  () => ({ type: 'string', contentEncoding: 'base64', pattern: '^[A-Za-z0-9+/]+=*$' }),
  ({ length }) => ({ contentEncoding: 'base64', minLength: length - 1, maxLength: length }),
  ({ length }) => ({ minLength: Math.min(length, 75) }),
  ({ length }) => ({ maxLength: Math.max(length, 90) }),
  () => ({ pattern: '^[A-Za-z0-9+/]*=*$' }),
  () => ({ format: 'byte' }),
  (text) => ({ enum: ['', text] }),
  (text) => ({ const: text }),
];

/** Schemas that some values fail. */
const JUNK: readonly JsonValue[] = [
  false,
  { type: 'null' },
  { const: 1 },
  { maxLength: 50 },
  { minLength: 300 },
  { pattern: '^https?:' },
  { required: ['nowhere'] },
  { properties: { data: { maxLength: 70 } }, required: ['data'] },
  { properties: { kind: { const: 'note' } } },
  { contains: { maxLength: 70 }, type: 'array' },
];

/** A schema for which a value is valid in most cases, written in the ways in which JSON Schema lets it be written. */
export function schemaFor(json: JsonValue, draw: GeneratorValue): JsonObject {
  const definitions: JsonObject = {};
  // by its place: fast-check compares what it draws from with all that it has drawn from before, and schemas are large
  const one = <Item>(...items: Item[]): Item => items[draw(fc.constantFrom, ...items.keys()) as number] as Item;
  const perhaps = (...words: JsonObject[]): JsonObject => one<JsonObject>({}, {}, ...words);
  const junk = () => one(...JUNK);

  const defined = (schema: JsonObject): string => {
    const name = `d${Object.keys(definitions).length}`;
    definitions[name] = schema;
    return name;
  };

  /** In other words. */
  const around = (schema: JsonObject, depth: number): JsonObject => {
    if (depth > 1) return schema;
    const inner = () => around(schema, depth + 1);
    const ways: (() => JsonObject)[] = [
      () => schema,
      () => schema,
      () => ({ $ref: `#/$defs/${defined(inner())}` }),
      () => ({ $ref: `#/$defs/${defined(inner())}`, description: 'beside it', ...perhaps({ minLength: 1 }) }),
      () => {
        const name = one('n', 'm');
        return { $ref: `#${name}`, $defs: { here: { $anchor: name, ...inner() } } };
      },
      () => ({ $dynamicRef: '#d', $defs: { here: { $dynamicAnchor: 'd', ...inner() } } }),
      () => ({ $id: 'https://example.com/inner', $ref: '#/$defs/here', $defs: { here: inner() } }),
      () => ({ allOf: [inner(), one<JsonValue>({}, true)] }),
      () => ({ ...schema, allOf: [inner()] }),
      () => ({ anyOf: [junk(), inner()] }),
      () => ({ anyOf: [inner(), inner(), junk()] }),
      () => ({ oneOf: [inner(), junk()] }),
      () => ({ oneOf: [junk(), junk(), inner()] }),
      () => ({ if: junk(), [THEN]: inner(), else: inner() }),
      () => ({ if: inner(), [THEN]: inner(), else: false }),
      () => ({ if: junk(), else: inner() }),
      () => ({ not: { not: inner() } }),
      () => ({ not: junk(), ...schema }),
      () => ({ not: { allOf: [inner(), junk()] } }),
    ];
    return one(...ways)();
  };

  const ofMap = (map: JsonObject): JsonObject => {
    const members = Object.fromEntries(Object.entries(map).map(([name, value]) => [name, of(value)]));
    const names = Object.keys(map);
    const [first = 'data', ...others] = names;
    const rest = Object.fromEntries(others.map((name) => [name, members[name] as JsonValue]));
    return {
      ...perhaps({ type: 'object' }),
      ...one<JsonObject>(
        { properties: members, ...perhaps({ required: names }, { additionalProperties: false }) },
        { patternProperties: { [`^${first}$`]: members[first] ?? {} }, properties: rest, additionalProperties: false },
        { properties: rest, additionalProperties: members[first] ?? true },
        { properties: rest, unevaluatedProperties: members[first] ?? true },
        {
          allOf: [{ properties: rest }, { properties: { [first]: members[first] ?? {} } }],
          unevaluatedProperties: false,
        },
        { anyOf: [{ properties: members, required: names }, junk()], unevaluatedProperties: false },
        { dependentSchemas: { [first]: { properties: members } }, ...perhaps({ unevaluatedProperties: false }) },
        { dependencies: { [first]: { properties: members } } },
        { properties: members, propertyNames: one<JsonValue>({ maxLength: 5 }, { pattern: '^[a-z]+$' }) },
      ),
      ...perhaps({ minProperties: names.length }, { maxProperties: names.length }),
      ...perhaps({ dependentRequired: { [first]: others } }),
    };
  };

  const ofList = (list: JsonValue[]): JsonObject => {
    const items = list.map(of);
    const [first = {}, ...others] = items;
    return {
      ...perhaps({ type: 'array' }),
      ...one<JsonObject>(
        { items: { anyOf: [...items, { type: 'null' }] } },
        { prefixItems: items, ...perhaps({ items: false }) },
        { prefixItems: [first], items: { anyOf: [...others, false] } },
        { items, additionalItems: false },
        { prefixItems: items, unevaluatedItems: false },
        { contains: first, unevaluatedItems: { anyOf: [...others, false] } },
        {
          contains: first,
          ...perhaps({ minContains: 1 }, { maxContains: list.length }, { minContains: 0, maxContains: 1 }),
        },
      ),
      ...perhaps({ uniqueItems: true }, { minItems: list.length, maxItems: list.length }),
    };
  };

  const of = (value: JsonValue): JsonObject => {
    if (typeof value === 'string') {
      const told = value.length < 60 ? perhaps({ type: 'string' }, { const: value }) : one(...OF_BASE64)(value);
      return around(told, 0);
    }
    if (Array.isArray(value)) return around(ofList(value), 1);
    if (typeof value !== 'object' || value === null) return perhaps({ const: value });
    return around(ofMap(value), 1);
  };

  const whole = of(json);
  const own = perhaps({ $id: 'https://example.com/whole' });
  return { ...whole, ...own, $defs: { ...(whole.$defs as JsonObject | undefined), ...definitions } };
}
