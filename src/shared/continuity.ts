// Checks a compacted history against its base: opaque fields are byte-identical, kept entries are in order, the newest
// human entry is there. Entries are matched with those of the base first; an unmatched entry is new and always valid.

import { hasSubstance } from './content.js';
import type { ContentBlock, IContent } from './content.js';
import { pushTo } from './lists-by-key.js';
import type { Violation } from './violation.js';

const UNMATCHED = -1;

/** Lists violations in `history` relative to the base that it was made from. Linear in both. */
export function findBreaksWithBase(
  history: readonly IContent[],
  base: readonly IContent[],
): readonly Violation[] {
  const origins = matchEntries(history, base);
  return [
    ...findChangedOpaqueFields(history, base, origins),
    ...findMisplacedEntries(origins),
    ...findLostHuman(history, base, origins),
  ];
}

/**
 * Returns, for each entry of `history`, the index of its origin in `base`, or `UNMATCHED`. Entries that share an object are
 * matched first. Others, which were copied or loaded again, are matched by an id or a signature that is unique in the base;
 * not by text, because a shortened text may equal another one.
 */
function matchEntries(history: readonly IContent[], base: readonly IContent[]): readonly number[] {
  const origins = matchByIdentity(history, base);
  if (!origins.includes(UNMATCHED)) return origins;

  const holders = mapUniqueKeys(base);
  return origins.map((origin, at) => {
    if (origin !== UNMATCHED) return origin;
    const found = entryKeys(history[at]).map((key) => holders.get(key) ?? UNMATCHED);
    return found.find((holder) => holder !== UNMATCHED) ?? UNMATCHED;
  });
}

/** If an object occurs in several entries of the base, the first one after the last match wins. */
function matchByIdentity(history: readonly IContent[], base: readonly IContent[]): number[] {
  // Descending, so that passed places are popped off the end of a list.
  const places = new Map<object, number[]>();
  for (let at = base.length - 1; at >= 0; at -= 1) {
    for (const part of partsOf(base[at])) {
      if (places.get(part)?.at(-1) !== at) pushTo(places, part, at);
    }
  }

  let passed = UNMATCHED;
  return history.map((content) => {
    const known = partsOf(content)
      .map((part) => places.get(part))
      .find((found) => found !== undefined);
    if (known === undefined) return UNMATCHED;
    const origin = firstPlaceAfter(passed, known);
    passed = Math.max(passed, origin);
    return origin;
  });
}

function partsOf(content: IContent | undefined): readonly object[] {
  return content === undefined ? [] : [content, ...content.blocks];
}

/** The first of descending places after `passed`, or else the last one. Removes those before it. */
function firstPlaceAfter(passed: number, places: number[]): number {
  while (places.length > 1 && (places.at(-1) ?? 0) <= passed) places.pop();
  return places.at(-1) ?? UNMATCHED;
}

/** Maps each key to its entry, or to `UNMATCHED` if several entries have it. */
function mapUniqueKeys(base: readonly IContent[]): ReadonlyMap<string, number> {
  const holders = new Map<string, number>();
  base.forEach((content, at) => {
    for (const key of entryKeys(content)) {
      const holder = holders.get(key);
      holders.set(key, holder === undefined || holder === at ? at : UNMATCHED);
    }
  });
  return holders;
}

/** The keys by which a copy of an entry is recognized, most reliable first. */
function entryKeys(content: IContent | undefined): readonly string[] {
  if (content === undefined) return [];
  const id = content.metadata?.id;
  const keys = content.blocks.flatMap(blockKey);
  return id === undefined ? keys : [`entry ${id}`, ...keys];
}

function blockKey(block: ContentBlock): string | readonly [] {
  switch (block.type) {
    case 'tool_call':
      return `call ${block.id}`;
    case 'tool_response':
      return `response ${block.callId}`;
    case 'thinking': {
      const opaque = block.signature ?? block.encryptedContent;
      return opaque === undefined ? [] : `thinking ${opaque}`;
    }
    case 'opaque':
      return block.callId === undefined ? [] : `opaque ${block.kind} of ${block.callId}`;
    case 'text':
    case 'code':
    case 'media':
      return [];
  }
}

function findChangedOpaqueFields(
  history: readonly IContent[],
  base: readonly IContent[],
  origins: readonly number[],
): readonly Violation[] {
  const violations: Violation[] = [];
  const known = new Set(base.flatMap(({ blocks }) => blocks.flatMap(opaqueContent)));
  history.forEach((content, entry) => {
    const origin = base[origins[entry] ?? UNMATCHED];
    // The opaque blocks of an unmatched entry may come from anywhere in the base.
    const left = origin?.blocks.flatMap(opaqueContent).reverse();
    content.blocks.forEach((block, at) => {
      const [bytes] = opaqueContent(block);
      if (bytes === undefined) return;
      if (left === undefined ? known.has(bytes) : popUntil(left, bytes)) return;
      const message = `The ${block.type} block was changed or moved, or is not in the base.`;
      violations.push({ rule: 'opaque-changed', entry, block: at, message });
    });
    if (origin === undefined || hasSameProviderMetadata(content, origin)) return;
    const message = 'The provider metadata differs from that of the entry in the base.';
    violations.push({ rule: 'opaque-changed', entry, message });
  });
  return violations;
}

/** The content of a block that must not change, serialized; empty for blocks that may. */
function opaqueContent(block: ContentBlock): readonly [bytes: string] | readonly [] {
  if (block.type === 'thinking') {
    return [JSON.stringify([block.thought, block.signature, block.encryptedContent])];
  }
  if (block.type !== 'opaque') return [];
  return [JSON.stringify([block.type, block.kind, block.tokens, block.callId])];
}

/** Pops values up to and including `value`; pops none if it is not there. */
function popUntil(stack: string[], value: string): boolean {
  const at = stack.lastIndexOf(value);
  if (at === -1) return false;
  stack.length = at;
  return true;
}

function hasSameProviderMetadata(content: IContent, origin: IContent): boolean {
  const now = content.metadata?.providerMetadata;
  const before = origin.metadata?.providerMetadata;
  return now === before || JSON.stringify(now) === JSON.stringify(before);
}

function findMisplacedEntries(origins: readonly number[]): readonly Violation[] {
  const violations: Violation[] = [];
  let last = UNMATCHED;
  origins.forEach((origin, entry) => {
    if (origin === UNMATCHED) return;
    if (origin > last) {
      last = origin;
      return;
    }
    const message =
      origin === last
        ? `Entry ${origin} of the base is repeated.`
        : `Entry ${origin} of the base comes after entry ${last}.`;
    violations.push({ rule: 'out-of-order', entry, message });
  });
  return violations;
}

function findLostHuman(
  history: readonly IContent[],
  base: readonly IContent[],
  origins: readonly number[],
): readonly Violation[] {
  const newest = base.findLastIndex(isUserEntry);
  const asked = base[newest];
  if (asked === undefined || origins.includes(newest)) return [];

  const last = history.findLastIndex(isUserEntry);
  const candidate = history[last];
  if (candidate !== undefined) {
    // An object that occurs several times may have been matched with an earlier entry.
    if (candidate.blocks.some((block) => asked.blocks.includes(block))) return [];
    // A shortened text in new objects matches nothing, but the entry was kept.
    if (origins[last] === UNMATCHED && isShortenedFrom(candidate, asked)) return [];
  }
  const message = 'The newest human entry is missing.';
  return [{ rule: 'newest-human-lost', entry: newest, message }];
}

/** A summary is a human entry too, but the next summary may replace it. A blank entry asks nothing. */
function isUserEntry({ speaker, blocks, metadata }: IContent): boolean {
  return speaker === 'human' && metadata?.isSummary !== true && blocks.some(hasSubstance);
}

/** Whether the words of `shorter` are a subsequence of those of `longer`. */
function isShortenedFrom(shorter: IContent, longer: IContent): boolean {
  const words = wordsOf(shorter);
  let found = 0;
  for (const word of wordsOf(longer)) if (word === words[found]) found += 1;
  return found === words.length;
}

function wordsOf({ blocks }: IContent): readonly string[] {
  return blocks.flatMap((block) => (block.type === 'text' ? (block.text.match(/\S+/g) ?? []) : []));
}
