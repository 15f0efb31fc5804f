// Each rule of Gemini, broken once and reported in its own words, and what it accepts.

import { describeRules } from '../../support/provider-cases.js';

describeRules('gemini', [
  {
    rule: 'first-turn',
    broken: 'a h',
    message: "First content should be with role 'user', got model",
    valid: 'h a',
  },
  {
    rule: 'prefill',
    broken: 'h a',
    message: 'Requests ending with a model turn are not supported',
    valid: 'h a h',
    options: { allowsPrefill: false },
  },
  {
    rule: 'call-placement',
    broken: 'a:r1 t:r1',
    message:
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    valid: 'h a:r1 t:r1 a:r2 t:r2',
  },
  {
    rule: 'tool-result-count',
    broken: 'h a:r1,r2 t:r1 h',
    message:
      'Please ensure that the number of function response parts is equal to the number of function call parts ' +
      'of the function call turn.',
    valid: 'h a:r1,r2 t:r1 t:r2 h',
  },
  {
    rule: 'tool-call-missing',
    broken: 'h a t:r1',
    message:
      'Please ensure that function response turn comes immediately after a function call turn.',
    valid: 'h a:r1 t:r1',
  },
  {
    rule: 'call-arguments',
    broken: 'h a:okay,r1(=null) t:r1',
    message:
      "Invalid value at 'contents[1].parts[1].function_call.args' (type.googleapis.com/google.protobuf.Struct)",
    valid: 'h a:okay,r1 t:r1',
  },
  {
    rule: 'thought-signature-missing',
    broken: 'h a:*s1,r1,r2 t:r1,r2 a:r3 t:r3',
    message:
      'Function call is missing a thought_signature in functionCall parts. This is required for tools to work ' +
      'correctly, and missing thought_signature may lead to degraded model performance. ' +
      'Additional data, function call `default_api:read_file`, position 4.',
    valid: 'h a:r0 t:r0 h a:*s1,r1,r2 t:r1,r2 a:*s2,r3 t:r3',
    options: { requiresThoughtSignatures: true },
  },
  {
    rule: 'empty-message',
    broken: 'h a:* h',
    message: '* GenerateContentRequest.contents[1].parts: contents.parts must not be empty.',
    valid: 'h a:*s1 h',
  },
  {
    rule: 'lone-surrogate',
    broken: 'h a:r1 t:r1(=["\\ude00"])',
    message: 'The input data is not valid json',
    valid: 'h a:r1 t:r1(=["\\ud83d\\ude00"])',
  },
]);
