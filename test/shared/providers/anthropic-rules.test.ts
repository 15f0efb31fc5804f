// Each rule of Anthropic Messages, broken once and reported in its own words, and what it accepts.

import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import type { TurnPart } from '../../../src/shared/providers/provider-request.js';
import {
  assistantTurn,
  callPart,
  calledAs,
  describeRules,
  failedWith,
  resultPart,
  textPart,
  userTurn,
} from '../../support/provider-cases.js';
import { historyOf } from '../../support/notation.js';

const PREFILL =
  'This model does not support assistant message prefill. The conversation must end with a user message.';
const HALF = '"half \\ud83d"';

function thinking(isSigned: boolean): TurnPart {
  return { kind: 'reasoning', isSigned, content: '' };
}

function cached(count: number): IContent[] {
  const mark = { type: 'ephemeral' };
  const metadata = [{ anthropic: { cacheControl: mark } }, { cache_control: mark }];
  return Array.from({ length: count }, (_, at) =>
    humanText('go', { providerMetadata: metadata[at % 2] }),
  );
}

describeRules('anthropic', [
  {
    rule: 'first-turn',
    broken: 'a h',
    message: 'messages: first message must use the "user" role',
    valid: 'h a h',
  },
  {
    rule: 'prefill',
    broken: 'h a',
    message: PREFILL,
    valid: 'h a h',
    options: { allowsPrefill: false },
  },
  {
    rule: 'tool-result-missing',
    broken: 'h a:r1,r2,r3 t:r2 h',
    message:
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: r1, r3. ' +
      'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    valid: 'h a:r1,r2,r3 t:r2 h t:r1,r3',
  },
  {
    rule: 'tool-call-missing',
    broken: 'h a:r9 t:r9 a h t:r9',
    message:
      'messages.4.content.0: unexpected `tool_use_id` found in `tool_result` blocks: r9. ' +
      'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
    valid: 'h a:r1 t:r1 a:r9 h t:r9',
  },
  {
    rule: 'tool-result-repeated',
    broken: 'h a:r1 t:r1 t:r1',
    message:
      'messages.2.content.1: each tool_use must have a single result. ' +
      'Found multiple `tool_result` blocks with id: r1',
    valid: 'h a:r1 t:r1? t:r1',
  },
  {
    rule: 'tool-result-not-first',
    broken: {
      turns: [
        userTurn(textPart('go')),
        assistantTurn(callPart('c1')),
        userTurn(textPart('so'), resultPart('c1')),
      ],
    },
    message:
      'messages.2: Did not find 1 tool_result block(s) at the beginning of this message. ' +
      'Messages following tool_use blocks must begin with a matching number of tool_result blocks.',
    valid: {
      turns: [
        userTurn(textPart('go')),
        assistantTurn(callPart('c1')),
        userTurn(resultPart('c1'), textPart('so')),
      ],
    },
  },
  {
    rule: 'tool-result-empty',
    broken: failedWith(''),
    message: 'messages.2.content.0.tool_result: content cannot be empty if `is_error` is true',
    valid: failedWith('no such file'),
  },
  {
    rule: 'call-id-repeated',
    broken: 'h a:r1 t:r1 a:okay,r1 t:r1',
    message: 'messages.3.content.1: `tool_use` ids must be unique',
    valid: 'h a:r1 t:r1 a:okay,r2 t:r2',
  },
  {
    rule: 'call-id-pattern',
    broken: calledAs('functions.read:0'),
    message: "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    valid: calledAs('functions_read-0'),
  },
  {
    rule: 'call-arguments',
    broken: 'h a:r1(=["a.ts"]) t:r1',
    message: 'messages.1.content.0.tool_use.input: Input should be a valid dictionary',
    valid: 'h a:r1(={}) t:r1',
  },
  {
    rule: 'thinking-missing',
    broken: 'h a:*s1,one h a:r1 t:r1 a:*s2,r2 t:r2',
    message:
      'messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. ' +
      'When `thinking` is enabled, a final `assistant` message must start with a thinking block ' +
      '(preceeding the lastmost set of `tool_use` and `tool_result` blocks).',
    valid: 'h a:one h a:*s1,r1 t:r1 a:r2 t:r2',
    options: { thinking: true },
  },
  {
    rule: 'thinking-unexpected',
    broken: 'h a:*s1,one h a:*s2,two',
    message:
      'messages.3.content.0: When thinking is disabled, an `assistant` message in the final position ' +
      'cannot contain `thinking`.',
    valid: 'h a:*s1,one h a:two',
    options: { thinking: false },
  },
  {
    rule: 'thinking-unsigned',
    broken: { turns: [userTurn(textPart('go')), assistantTurn(thinking(false), textPart('yes'))] },
    message: 'messages.1.content.0.thinking.signature: Field required',
    valid: { turns: [userTurn(textPart('go')), assistantTurn(thinking(true), textPart('yes'))] },
  },
  {
    rule: 'reasoning-bound',
    broken: 'h:reworded a:*s1,one h',
    message:
      'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. ' +
      'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
    valid: 'h a:*s1,one h',
    options: { sentBefore: [historyOf('h')] },
  },
  {
    rule: 'thinking-last',
    broken: 'h a:one,*s1 h',
    message: 'messages.1: The final block in an assistant message cannot be `thinking`.',
    valid: 'h a:*s1,one h',
  },
  {
    rule: 'empty-message',
    broken: 'h:_ a: h',
    message: 'messages.0: user messages must have non-empty content',
    valid: 'h h:_ a:',
  },
  {
    rule: 'blank-text',
    broken: { turns: [userTurn(textPart('go'), textPart(' '), textPart(''))] },
    message: 'messages: text content blocks must contain non-whitespace text',
    valid: { turns: [userTurn(textPart('go'), textPart('.'))] },
  },
  {
    rule: 'trailing-whitespace',
    broken: 'h a:"so "',
    message: 'messages: final assistant content cannot end with trailing whitespace',
    valid: 'h a:"so " h:"so "',
  },
  {
    rule: 'cache-control-count',
    broken: cached(4),
    message: 'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    valid: cached(3),
    options: { cacheBreakpoints: 1 },
  },
  {
    rule: 'lone-surrogate',
    broken: `h:${HALF}`,
    message: 'The request body is not valid JSON: no low surrogate in string',
    valid: 'h:"whole \\ud83d\\ude00"',
  },
]);
