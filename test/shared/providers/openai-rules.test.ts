// Each rule of both OpenAI protocols, broken once and reported in its own words, and what they accept.

import type { Turn, TurnPart } from '../../../src/shared/providers/provider-request.js';
import { callPart, describeRules, resultPart, userTurn } from '../../support/provider-cases.js';
import { historyOf } from '../../support/notation.js';

function item(part: TurnPart, itemId: string): Turn {
  return { role: 'assistant', parts: [part], itemId };
}

describeRules('openai-chat', [
  {
    rule: 'prefill',
    broken: 'h a',
    message:
      'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
    valid: 'h a:r1 t:r1',
    options: { allowsPrefill: false },
  },
  {
    rule: 'tool-result-missing',
    broken: 'h a:r1,r2,r3 t:r2 h t:r1',
    message:
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each " +
      "'tool_call_id'. The following tool_call_ids did not have response messages: r1, r3",
    valid: 'h a:r1,r2,r3 t:r2,%cat.png t:r1,r3',
  },
  {
    rule: 'tool-call-missing',
    broken: 'h a t:r1',
    message:
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    valid: 'h a:r1 t:r1',
  },
  {
    rule: 'tool-call-unknown',
    broken: 'h a:r1 t:r1,r9',
    message:
      "Invalid parameter: 'tool_call_id' of 'r9' not found in 'tool_calls' of previous message.",
    valid: 'h a:r1,r9 t:r1,r9',
  },
  {
    rule: 'tool-result-repeated',
    broken: 'h a:r1 t:r1 t:r1',
    message: "Duplicate value for 'tool_call_id'",
    valid: 'h a:r1 t:r1 a:r1 t:r1',
  },
  {
    rule: 'call-arguments',
    broken: 'h a:r1(=7) t:r1',
    message: 'Can only get item pairs from a mapping.',
    valid: 'h a:r1(={"line":7}) t:r1',
  },
  {
    rule: 'empty-message',
    broken: 'h a:*s1 h',
    message: "Invalid value for 'content': expected a string, got null.",
    valid: 'h:_ a:*s1,okay h',
  },
]);

describeRules('openai-responses', [
  {
    rule: 'tool-result-missing',
    broken: 'h a:r1,r2 t:r1 h',
    message: 'No tool output found for function call r2.',
    valid: 'h a:r1,r2 t:r1 h a t:r2',
  },
  {
    rule: 'tool-call-missing',
    broken: 'h t:r1 a:r1 t:r1',
    message: 'No tool call found for function call output with call_id r1.',
    valid: 'h a:r1 t:r1 a:r1 t:r1',
  },
  {
    rule: 'reasoning-alone',
    broken: 'h a:one,*rs_1 a:r1 t:r1',
    message: "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    valid: 'h a:one,*rs_1,*rs_2,r1 t:r1',
  },
  {
    rule: 'reasoning-bound',
    broken: 'h:reworded a:*rs_1,one h',
    message:
      'input_transformations: {"type":"reasoning","action":"removed","id":"rs_1","reason":"prefix_mismatch"}',
    valid: 'h a:*rs_1,one h',
    options: { sentBefore: [historyOf('h')] },
  },
  {
    rule: 'item-id-repeated',
    broken: 'h a:*rs_1,one h a:*rs_1,two',
    message:
      'Duplicate item found with id rs_1. Remove duplicate items from your input and try again.',
    valid: 'h a:*rs_1,one h a:*s1,two h a:*s1,three h a:*s1',
  },
  {
    rule: 'item-id-prefix',
    broken: { turns: [item(callPart('c1'), 'custom'), userTurn(resultPart('c1'))] },
    message: "Invalid 'input[0].id': 'custom'. Expected an ID that begins with 'fc'.",
    valid: { turns: [item(callPart('c1'), 'fc_1'), userTurn(resultPart('c1'))] },
  },
]);
