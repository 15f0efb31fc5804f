// Random messages of the AI SDK, with every kind of part that versions 6 and 7 know, and one that neither knows.

import fc from 'fast-check';
import type { SdkMessage, SdkPart } from '../../../src/adapters/ai-sdk/sdk-message.js';

const PROVIDER_OPTIONS = fc.constantFrom(
  { anthropic: { cacheControl: { type: 'ephemeral' }, signature: 's1' } },
  { google: { thoughtSignature: 't1' } },
  { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'gAAA' } },
);

/** Objects with a prototype, as `JSON.parse` makes them. */
const PLAIN = { noNullPrototype: true } as const;

const text = fc.constantFrom('', ' ', 'hello', 'a\nb');
const payload = fc.constantFrom<unknown>('done', { exitCode: 1 }, [1, null], '');

/** A part with the given fields, with or without provider options. */
function part(fields: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<SdkPart> {
  return fc
    .tuple(fc.record(fields, PLAIN), fc.option(PROVIDER_OPTIONS, { nil: undefined }))
    .map(([values, providerOptions]) => ({
      ...(values as { type: string }),
      ...(providerOptions && { providerOptions }),
    }));
}

const is = <T>(value: T): fc.Arbitrary<T> => fc.constant(value);

const textPart = part({ type: is('text'), text });
const userParts = [
  textPart,
  part({ type: is('image'), image: fc.constantFrom('QUJD', new Uint8Array([1, 2, 3])) }),
  part({ type: is('file'), data: is({ type: 'text', text: 'notes' }), mediaType: is('text') }),
  part({ type: is('file'), data: is(new URL('https://a.example/b.pdf')), mediaType: is('image') }),
];
const assistantParts = [
  textPart,
  part({ type: is('reasoning'), text }),
  part({ type: is('reasoning-file'), data: is('QUJD'), mediaType: is('image/png') }),
  part({ type: is('file'), data: is('QUJD'), mediaType: is('image/png') }),
  part({ type: is('custom'), kind: is('openai.compaction') }),
  part({ type: is('future-part'), whatever: payload }),
];
const outputs = fc.oneof(
  fc.record({ type: fc.constantFrom('text', 'error-text'), value: text }, PLAIN),
  fc.record({ type: fc.constantFrom('json', 'error-json'), value: payload }, PLAIN),
  is({ type: 'execution-denied', reason: 'no' }),
  is({
    type: 'content',
    value: [
      { type: 'text', text: 'a page' },
      { type: 'image-data', data: 'QUJD', mediaType: 'image/png' },
    ],
    providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  }),
);

interface PlannedCall {
  readonly isProviderExecuted: boolean;
  readonly isApproved: boolean;
  readonly output: unknown;
}

/** Calls with their results, as the SDK makes messages of one step. */
const step = fc
  .tuple(
    fc.array(fc.oneof(...assistantParts), { maxLength: 3 }),
    fc.array(
      fc.record({ isProviderExecuted: fc.boolean(), isApproved: fc.boolean(), output: outputs }),
      { maxLength: 3 },
    ),
  )
  .map(([parts, calls]) => (number: number): SdkMessage[] => [
    { role: 'assistant', content: [...parts, ...calls.flatMap(callParts(number))] },
    ...toolMessage(calls.flatMap(resultParts(number))),
  ]);

const user = fc
  .oneof(text, fc.array(fc.oneof(...userParts), { maxLength: 3 }))
  .map((content) => (): SdkMessage[] => [{ role: 'user', content }]);
const assistantText = text.map((content) => (): SdkMessage[] => [{ role: 'assistant', content }]);
const system = is((): SdkMessage[] => [{ role: 'system', content: 'Be brief.' }]);

/** Conversations of up to some 20 messages. */
export function arbitraryMessages(): fc.Arbitrary<SdkMessage[]> {
  return fc
    .array(
      fc.oneof(
        { weight: 4, arbitrary: step },
        { weight: 2, arbitrary: user },
        { weight: 1, arbitrary: assistantText },
        { weight: 1, arbitrary: system },
      ),
      { maxLength: 10 },
    )
    .map((makers) => makers.flatMap((make, number) => make(number)));
}

function callParts(number: number) {
  return (call: PlannedCall, at: number): SdkPart[] => {
    const toolCallId = `call-${number}-${at}`;
    const { isProviderExecuted: providerExecuted } = call;
    const called = { type: 'tool-call', toolCallId, toolName: 'read_file', input: { path: 'a' } };
    const request = { type: 'tool-approval-request', approvalId: `ok-${number}-${at}`, toolCallId };
    const result = { type: 'tool-result', toolCallId, toolName: 'read_file', output: call.output };
    return [
      { ...called, ...(providerExecuted && { providerExecuted }) },
      ...(call.isApproved ? [request] : []),
      ...(providerExecuted ? [result] : []),
    ];
  };
}

function resultParts(number: number) {
  return (call: PlannedCall, at: number): SdkPart[] => {
    const toolCallId = `call-${number}-${at}`;
    const approvalId = `ok-${number}-${at}`;
    const response = { type: 'tool-approval-response', approvalId, approved: true };
    const result = { type: 'tool-result', toolCallId, toolName: 'read_file', output: call.output };
    return [...(call.isApproved ? [response] : []), ...(call.isProviderExecuted ? [] : [result])];
  };
}

function toolMessage(content: readonly SdkPart[]): SdkMessage[] {
  return content.length === 0 ? [] : [{ role: 'tool', content }];
}
