// What hosts change, before a request, in what they have sent before: the present state, old results, the start of the list.

import type { ContentBlock, IContent } from '../../src/index.js';

/** Returns the entries of a request, from all entries so far and the number of the request. Pure; changed entries are new objects. */
type HostChange = (entries: readonly IContent[], request: number) => readonly IContent[];

const atEnd = withState((at, length) => at === length - 1);
const clearedAtTimes = cleared(30, 20);
const lastOnes = sliding(60);

/** By name. */
export const HOST_CHANGES: Readonly<Record<string, HostChange>> = {
  nothing: (entries) => entries,
  'state in the last message': atEnd,
  'state in the last 3': withState((at, length) => at >= length - 3),
  'state in the last 20': withState((at, length) => at >= length - 20),
  'state in a message behind the last': (entries, request) => [
    ...entries,
    { speaker: 'human', blocks: [state(request)] },
  ],
  'state in a message before the last 3': (entries, request) => [
    ...entries.slice(0, -3),
    { speaker: 'human', blocks: [state(request)] },
    ...entries.slice(-3),
  ],
  'budget below the last result': (entries, request) => {
    const last = entries.findLastIndex(({ speaker }) => speaker === 'tool');
    return withResults(entries, (text, at) => (at === last ? `${text}\n(${request} used)` : text));
  },
  'clock in the first message': withState((at) => at === 0),
  'results cleared before the last 30': cleared(30, 1),
  'the same, 20 at a time': clearedAtTimes,
  'only the first message and the last 60': lastOnes,
  'ids of calls': (entries, request) => entries.map((entry) => withIds(entry, request)),
  'state in the last, cleared 20 at a time': (entries, request) =>
    atEnd(clearedAtTimes(entries, request), request),
  'state in the last, only the last 60': (entries, request) =>
    atEnd(lastOnes(entries, request), request),
};

function state(request: number): ContentBlock {
  return { type: 'text', text: `<state>Request ${request}</state>` };
}

/** Adds the present state to messages of the user and results at some places. */
function withState(isPlace: (at: number, length: number) => boolean): HostChange {
  return (entries, request) =>
    entries.map((entry, at) =>
      entry.speaker !== 'ai' && isPlace(at, entries.length)
        ? { ...entry, blocks: [...entry.blocks, state(request)] }
        : entry,
    );
}

/** Clears the results before the last `kept` entries, so many entries at a time. */
function cleared(kept: number, atATime: number): HostChange {
  return (entries) => {
    const end = Math.floor((entries.length - kept) / atATime) * atATime;
    return withResults(entries, (text, at) => (at < end ? '[cleared]' : text));
  };
}

/** Leaves out all but the first entry and the last ones, which begin with an answer. */
function sliding(kept: number): HostChange {
  return (entries) => {
    const start = entries.length - kept;
    const from = entries.findIndex(({ speaker }, at) => at >= start && speaker === 'ai');
    return start < 2 ? entries : [...entries.slice(0, 1), ...entries.slice(from)];
  };
}

function withResults(
  entries: readonly IContent[],
  change: (text: string, at: number) => string,
): readonly IContent[] {
  return entries.map((entry, at) =>
    withBlocks(entry, (block) => {
      if (block.type !== 'tool_response' || typeof block.result !== 'string') return block;
      const result = change(block.result, at);
      return result === block.result ? block : { ...block, result };
    }),
  );
}

function withIds(entry: IContent, request: number): IContent {
  return withBlocks(entry, (block) => {
    if (block.type === 'tool_call') return { ...block, id: `${block.id}-${request}` };
    if (block.type !== 'tool_response') return block;
    return { ...block, callId: `${block.callId}-${request}` };
  });
}

/** Returns the same entry if no block changes. */
function withBlocks(entry: IContent, change: (block: ContentBlock) => ContentBlock): IContent {
  const blocks = entry.blocks.map(change);
  return blocks.every((block, at) => block === entry.blocks[at]) ? entry : { ...entry, blocks };
}
