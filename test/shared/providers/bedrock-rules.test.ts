// Each rule of Bedrock Converse, broken once and reported in its own words, and what it accepts.

import {
  assistantTurn,
  describeRules,
  failedWith,
  textPart,
  userTurn,
} from '../../support/provider-cases.js';
import { historyOf } from '../../support/notation.js';

const PREFILL =
  'This model does not support assistant message prefill. The conversation must end with a user message.';

describeRules('bedrock', [
  {
    rule: 'first-turn',
    broken: 'a h',
    message:
      'A conversation must start with a user message. Try again with a conversation that starts with a user message.',
    valid: 'h a',
  },
  {
    rule: 'alternation',
    broken: {
      turns: [userTurn(textPart('go')), assistantTurn(textPart('a')), assistantTurn(textPart('b'))],
    },
    message: 'A conversation must alternate between user and assistant roles.',
    valid: 'h a a',
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
    broken: 'h a:r1,r2,r3 t:r2 a h',
    message: 'Expected toolResult blocks at messages.2.content for the following Ids: r1, r3',
    valid: 'h a:r1,r2,r3 t:r2 t:r1,r3 a h',
  },
  {
    rule: 'tool-result-count',
    broken: 'h a:r1 t:r1 t:r9',
    message:
      'The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks of previous turn.',
    valid: 'h a:r1,r9 t:r1 t:r9',
  },
  {
    rule: 'tool-result-mixed',
    broken: 'h a:r1 t:r1 h',
    message:
      'messages.2.content: Conversation blocks and tool result blocks cannot be provided in the same turn.',
    valid: 'h a:r1 t:r1 a h',
    options: { allowsTextBesideResults: false },
  },
  {
    rule: 'tool-result-empty',
    broken: failedWith(' '),
    message:
      'The content field at messages.2.content.0.toolResult cannot be empty when status value is error.',
    valid: failedWith('no such file'),
  },
  {
    rule: 'call-arguments',
    broken: 'h a:r1(="a.ts") t:r1',
    message:
      'The format of the value at messages.1.content.0.toolUse.input is invalid. ' +
      'Provide a json object for the field and try again.',
    valid: 'h a:r1(={"path":"a.ts"}) t:r1',
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
    rule: 'tools-undefined',
    broken: 'h a:r1 t:r1',
    message:
      'The toolConfig field must be defined when using toolUse and toolResult content blocks.',
    valid: 'h a',
    options: { definesTools: false },
  },
  {
    rule: 'empty-message',
    broken: 'h a: h',
    message:
      'The content field in the Message object at messages.1 is empty. ' +
      'Add a ContentBlock object to the content field and try again.',
    valid: 'h a: a h',
  },
  {
    rule: 'blank-text',
    broken: { turns: [userTurn(textPart('go'), textPart('\n'))] },
    message:
      'The text field in the ContentBlock object at messages.0.content.1 is blank. ' +
      'Add text to the text field, and try again.',
    valid: 'h:go,"\\n"',
  },
]);
