// Random valid histories for properties, built turn by turn so that they shrink well. They contain the worst of real
// sessions: odd parameters, repeated ids, unclosed inclusions.

import fc from 'fast-check';

import type {
  ContentBlock,
  IContent,
  MediaBlock,
  OpaqueBlock,
  TextBlock,
  ThinkingBlock,
  ToolCallBlock,
  ToolResponseBlock,
} from '../../src/shared/content.js';
import { hasSubstance } from '../../src/shared/content.js';
import type { DensityConfig } from '../../src/shared/density.js';
import { arbitraryPath, arbitraryResult, arbitraryToolUse, listOf } from './arbitrary-tool-use.js';
import { length } from './scale.js';

/** The workspace root in `arbitraryDensityConfig`. */
export const WORKSPACE_ROOT = '/work';

export interface ArbitraryHistoryOptions {
  /** Maximum length at full scale, at least 20. @default 300 */
  readonly maxEntries?: number;
}

/** Generates valid histories: half of them short, one in ten up to `maxEntries` long. */
export function arbitraryHistory({ maxEntries = 300 }: ArbitraryHistoryOptions = {}): fc.Arbitrary<
  IContent[]
> {
  const longest = length(maxEntries);
  return fc
    .record({
      turns: fc.oneof(
        { weight: 5, arbitrary: listOf(turn, 3) },
        { weight: 4, arbitrary: listOf(turn, 10) },
        { weight: 1, arbitrary: listOf(turn, Math.ceil(longest / 4)) },
      ),
      running: fc.option(step, { freq: 4 }),
      answered: fc.nat(8),
      isStreaming: fc.boolean(),
    })
    .map((plan) => assemble(plan, longest));
}

/** Generates configurations of all phases, with every kind of retention. */
export function arbitraryDensityConfig(): fc.Arbitrary<DensityConfig> {
  return fc.record(
    {
      readWritePruning: mostly(true),
      fileDedupe: mostly(true),
      recencyPruning: fc.boolean(),
      recencyRetention: fc.constantFrom(-1, 0, 1, 2, 3, 5),
      workspaceRoot: fc.constant(WORKSPACE_ROOT),
      partialWritesSupersede: fc.boolean(),
    },
    {
      requiredKeys: [
        'readWritePruning',
        'fileDedupe',
        'recencyPruning',
        'recencyRetention',
        'workspaceRoot',
      ],
    },
  );
}

interface PlannedCall {
  readonly name: string;
  readonly parameters: unknown;
  readonly result: unknown;
  /** Tokens of the result's media; `null` for none. */
  readonly mediaTokens: number | null;
  readonly hasFailed: boolean;
  /** An id shared with other calls, or `null` for a unique one. */
  readonly sharedId: string | null;
  /** Reasoning right before it, mostly none. */
  readonly thoughts: readonly ThinkingBlock[];
  /** Whether the call has an approval, which was answered before it ran. */
  readonly isApproved: boolean;
}

interface PlannedStep {
  readonly said: readonly ContentBlock[];
  readonly calls: readonly PlannedCall[];
  readonly responses: 'one entry' | 'one entry each' | 'two entries, latest first';
  readonly attachment: ContentBlock | null;
}

interface PlannedTurn {
  readonly asked: readonly (readonly ContentBlock[])[];
  readonly steps: readonly PlannedStep[];
}

interface HistoryPlan {
  readonly turns: readonly PlannedTurn[];
  /** A last step whose calls after the first `answered` are pending. */
  readonly running: PlannedStep | null;
  readonly answered: number;
  /** Whether pending calls have an incomplete response. */
  readonly isStreaming: boolean;
}

function mostly(value: boolean): fc.Arbitrary<boolean> {
  return fc.constantFrom(value, value, value, !value);
}

const line = fc.constantFrom(
  'please look',
  'and fix it',
  '',
  '   ',
  'see --- a.ts --- for more',
  '---',
);

const inclusionBody = fc.constantFrom(
  'content',
  'first\nsecond',
  '',
  'before\n--- src/b.ts ---\nafter',
  '  --- End of content --- not alone',
);

const piece = fc.oneof(
  { weight: 4, arbitrary: line },
  {
    weight: 6,
    arbitrary: fc
      .tuple(arbitraryPath, inclusionBody)
      .map(([file, body]) => `--- ${file} ---\n${body}\n--- End of content ---`),
  },
  { weight: 1, arbitrary: arbitraryPath.map((file) => `--- ${file} ---\nnever closed`) },
  { weight: 1, arbitrary: fc.constant('--- End of content ---') },
);

const text: fc.Arbitrary<TextBlock> = listOf(piece, 4, 1).map((pieces) => ({
  type: 'text',
  text: pieces.join('\n'),
}));

const media: fc.Arbitrary<MediaBlock> = fc.constantFrom(
  { type: 'media', mimeType: 'image/png', data: 'iVBORw0KGgo=', encoding: 'base64' },
  { type: 'media', mimeType: 'application/pdf', data: 'https://x.test/a.pdf', encoding: 'url' },
);

const opaque: fc.Arbitrary<OpaqueBlock> = fc.constantFrom(
  { type: 'opaque', kind: 'server_tool', tokens: 250 },
  { type: 'opaque', kind: '', tokens: 0 },
  { type: 'opaque', kind: 'of a call that is not there', tokens: 7, callId: 'nowhere' },
);

const message: fc.Arbitrary<ContentBlock[]> = listOf(
  fc.oneof(
    { weight: 6, arbitrary: text },
    { weight: 1, arbitrary: media },
    { weight: 1, arbitrary: opaque },
  ),
  3,
  1,
);

const thinking: fc.Arbitrary<ThinkingBlock> = fc.record(
  {
    type: fc.constant('thinking' as const),
    thought: fc.constantFrom('', 'let me think', 'first this, then that'),
    signature: fc.constantFrom('c2lnbmVk', 'c2lnbmVk2=='),
    encryptedContent: fc.constant('ZW5jcnlwdGVk'),
  },
  { requiredKeys: ['type', 'thought'], noNullPrototype: true },
);

const call: fc.Arbitrary<PlannedCall> = fc
  .record({
    use: arbitraryToolUse,
    result: arbitraryResult,
    mediaTokens: fc.constantFrom(null, null, null, null, null, null, 0, 1_600, 4_600),
    hasFailed: fc.constantFrom(false, false, false, false, true),
    sharedId: fc.constantFrom(null, null, null, 'call_0', 'call_1', '__proto__'),
    isApproved: fc.constantFrom(false, false, false, false, false, true),
    thoughts: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: listOf(thinking, 2, 1) },
    ),
  })
  .map(({ use, ...rest }) => ({ ...use, ...rest }));

const saidBlock: fc.Arbitrary<ContentBlock> = fc.oneof(
  { weight: 3, arbitrary: thinking },
  { weight: 3, arbitrary: line.map((said) => ({ type: 'text' as const, text: said })) },
  { weight: 1, arbitrary: fc.constantFrom('', '\n', 'let x = 1;').map(codeBlock) },
  { weight: 1, arbitrary: opaque },
);

const step: fc.Arbitrary<PlannedStep> = fc.record({
  said: listOf(saidBlock, 3),
  calls: fc.oneof(
    { weight: 4, arbitrary: listOf(call, 2) },
    { weight: 1, arbitrary: listOf(call, 8) },
  ),
  responses: fc.constantFrom('one entry', 'one entry each', 'two entries, latest first'),
  attachment: fc.option(
    fc.oneof(
      media,
      opaque,
      fc.constant<ContentBlock>({ type: 'text', text: ' ' }),
      fc.constant<ContentBlock>({ type: 'text', text: 'a note beside results' }),
    ),
    { freq: 6 },
  ),
});

const turn: fc.Arbitrary<PlannedTurn> = fc.record({
  asked: listOf(message, 2),
  steps: listOf(step, 3),
});

function codeBlock(code: string): ContentBlock {
  return { type: 'code', code };
}

function assemble({ turns, running, answered, isStreaming }: HistoryPlan, max: number): IContent[] {
  const history: IContent[] = [];
  let made = 0;
  const newId = (): string => `call-${String((made += 1))}`;
  for (const { asked, steps } of turns) {
    const entries = [
      ...asked.map((blocks) => entryOf('human', substantial(blocks))),
      ...steps.flatMap((planned) => stepEntries(planned, newId)),
    ];
    // Room for pending calls: an ai entry, its approvals, and one tool entry per call.
    if (history.length + entries.length + 10 > max) break;
    history.push(...entries);
  }
  if (running !== null) history.push(...stepEntries(running, newId, { answered, isStreaming }));
  return history;
}

function stepEntries(
  { said, calls, responses, attachment }: PlannedStep,
  newId: () => string,
  open: { readonly answered: number; readonly isStreaming: boolean } | null = null,
): IContent[] {
  const made = calls.map((planned) => callAndResponse(planned, planned.sharedId ?? newId()));
  const thoughtAndCalled = made.flatMap(([callBlock], at) => [
    ...(calls[at]?.thoughts ?? []),
    callBlock,
  ]);
  const asked = made.filter((_, at) => calls[at]?.isApproved);
  const blocks = [
    ...said,
    ...thoughtAndCalled,
    ...asked.map(([{ id }]) => approvalBlock('request', id)),
  ];
  const ready = made.flatMap(([, response], at) => {
    if (open === null || at < open.answered) return [response];
    return open.isStreaming ? [{ ...response, isComplete: false }] : [];
  });
  const [first, ...others] = groups(ready, responses);
  return [
    entryOf('ai', substantial(blocks)),
    ...(asked.length === 0
      ? []
      : [
          entryOf(
            'tool',
            asked.map(([{ id }]) => approvalBlock('answer', id)),
          ),
        ]),
    ...(first === undefined
      ? []
      : [entryOf('tool', attachment === null ? first : [...first, attachment])]),
    ...others.map((group) => entryOf('tool', group)),
  ];
}

function approvalBlock(kind: string, callId: string): OpaqueBlock {
  return { type: 'opaque', kind, tokens: 25, callId };
}

function callAndResponse(planned: PlannedCall, id: string): [ToolCallBlock, ToolResponseBlock] {
  const { name, parameters, hasFailed, mediaTokens } = planned;
  return [
    { type: 'tool_call', id, name, parameters },
    {
      type: 'tool_response',
      callId: id,
      toolName: name,
      result: planned.result,
      isComplete: true,
      ...(hasFailed && { error: 'it failed' }),
      ...(mediaTokens !== null && { mediaTokens }),
    },
  ];
}

function groups(
  responses: readonly ToolResponseBlock[],
  shape: PlannedStep['responses'],
): (readonly ToolResponseBlock[])[] {
  if (shape === 'one entry each') return responses.map((response) => [response]);
  const half = shape === 'one entry' ? 0 : Math.floor(responses.length / 2);
  return [responses.slice(half), responses.slice(0, half)].filter((group) => group.length > 0);
}

function substantial(blocks: readonly ContentBlock[]): readonly ContentBlock[] {
  return blocks.some(hasSubstance) ? blocks : [...blocks, { type: 'text', text: 'go on' }];
}

/** Entries with an odd number of blocks have metadata, so that tests can check that opaque fields survive. */
function entryOf(speaker: IContent['speaker'], blocks: readonly ContentBlock[]): IContent {
  if (blocks.length % 2 === 0) return { speaker, blocks };
  return {
    speaker,
    blocks,
    metadata: { providerMetadata: { signature: `s${String(blocks.length)}` } },
  };
}
