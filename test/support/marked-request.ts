// Reads a Messages API body for a provider that caches at marks, and checks whether the API would refuse its marks.

import { asArray, asRecord } from '../../src/shared/json.js';
import type { JsonRecord } from '../../src/shared/json.js';
import type { CachedRequest } from './caching-provider.js';

const MINUTE = 60_000;
const MAX_MARKS = 4;

interface Mark {
  /** The index of the block in the messages; -1 for tools and system text. */
  readonly part: number;
  readonly mark: JsonRecord;
}

/** The cacheable content of a body, block by block. */
export function cachedRequestOf(body: JsonRecord): CachedRequest {
  const blocks = blocksOf(body);
  const positions: number[] = [];
  let position = 0;
  for (const [at, { type }] of blocks.entries()) {
    // A run of calls or of results takes one position.
    const isRun = RUNS.has(type) && blocks[at - 1]?.type === type;
    if (!isRun) position += 1;
    positions.push(position);
  }
  const marks = marksOf(body);
  return {
    head: withoutMarks([body['tools'], body['system']]),
    parts: blocks.map(({ role, block }) => withoutMarks([role, block])),
    ttlMs: marks.some(({ mark }) => mark['ttl'] === '1h') ? 60 * MINUTE : 5 * MINUTE,
    marks: { parts: marks.map(({ part }) => part), positions },
  };
}

const RUNS: ReadonlySet<unknown> = new Set(['tool_use', 'tool_result']);

/** Returns the API's error text if it would refuse the marks of a body. */
export function refusalOfMarks(body: JsonRecord): string | undefined {
  const marks = marksOf(body);
  if (marks.length > MAX_MARKS)
    return `A maximum of ${MAX_MARKS} blocks with cache_control may be provided. Found ${marks.length}.`;
  const isLong = marks.map(({ mark }) => mark['ttl'] === '1h');
  if (isLong.includes(true) && isLong.slice(0, isLong.lastIndexOf(true)).includes(false))
    return "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.";
  for (const { type, block } of blocksOf(body)) {
    if (block['cache_control'] === undefined) continue;
    if (!MARKED.has(type)) return `${String(type)}.cache_control: Extra inputs are not permitted`;
    if (block['text'] === '') return 'cache_control cannot be set for empty text blocks';
  }
  return undefined;
}

const MARKED: ReadonlySet<unknown> = new Set([
  ...['text', 'image', 'document', 'tool_use', 'tool_result', 'search_result'],
]);

/** The marks in the order in which the API reads them. */
export function marksOf(body: JsonRecord): readonly Mark[] {
  const blocks = blocksOf(body);
  const outer = [...asArray(body['tools']), ...asArray(body['system'])];
  const automatic = asRecord(body['cache_control']);
  return [
    ...outer.flatMap((holder) => markOn(holder, -1)),
    ...blocks.flatMap(({ block }, at) => [
      ...asArray(block['content']).flatMap((inner) => markOn(inner, at)),
      ...markOn(block, at),
    ]),
    ...(automatic === undefined ? [] : [{ part: blocks.length - 1, mark: automatic }]),
  ];
}

function markOn(holder: unknown, part: number): readonly Mark[] {
  const mark = asRecord(asRecord(holder)?.['cache_control']);
  return mark === undefined ? [] : [{ part, mark }];
}

function blocksOf(
  body: JsonRecord,
): readonly { readonly role: unknown; readonly type: unknown; readonly block: JsonRecord }[] {
  return asArray(body['messages']).flatMap((message) => {
    const { role, content } = asRecord(message) ?? {};
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    return asArray(blocks).map((value) => {
      const block = asRecord(value) ?? {};
      return { role, type: block['type'], block };
    });
  });
}

function withoutMarks(value: unknown): string {
  return JSON.stringify(value, (key, member: unknown) =>
    key === 'cache_control' ? undefined : member,
  );
}
