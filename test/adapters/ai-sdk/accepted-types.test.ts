// Both versions of the AI SDK accept the adapter by their own types. The type checker runs these tests; the test runner
// only has to load them.

import type * as six from 'ai';
import type * as seven from 'ai-v7';
import { describe, expectTypeOf, it } from 'vitest';
import {
  compactionMiddleware,
  messageCompactor,
  prepareStep,
  recallTool,
} from '../../../src/ai-sdk.js';
import type { CompactionMiddleware, PrepareStep } from '../../../src/ai-sdk.js';
import type { Compactor } from '../../../src/main/compactor.js';

declare const compactor: Compactor;

/** Never called. With the model messages of the SDK that is installed, `messageCompactor` needs no type. */
export async function callSix(
  { generateText, streamText, ToolLoopAgent, wrapLanguageModel }: typeof six,
  model: six.LanguageModel & object,
  messages: six.ModelMessage[],
  tools: { look: six.Tool<{ at: string }, string> },
): Promise<unknown> {
  const { text } = await generateText({
    model,
    tools,
    messages,
    prepareStep: prepareStep(compactor),
  });
  const { textStream } = streamText({ model, messages, prepareStep: prepareStep(compactor) });
  const recall = recallTool(compactor, { conversationId: 'c', removalLogDirectory: 't' });
  const agent = new ToolLoopAgent({
    model,
    tools: { ...tools, recall },
    prepareStep: prepareStep(compactor),
  });
  if (model.specificationVersion === 'v2') return [text, textStream, agent];
  const wrapped = wrapLanguageModel({ model, middleware: compactionMiddleware(compactor) });
  return generateText({ model: wrapped, messages: await messageCompactor(compactor)(messages) });
}

/** Never called. */
export async function callSeven(
  { generateText, streamText, ToolLoopAgent, wrapLanguageModel }: typeof seven,
  model: seven.LanguageModel & object,
  messages: seven.ModelMessage[],
  tools: { look: seven.Tool<{ at: string }, string> },
): Promise<unknown> {
  const { text } = await generateText({
    model,
    tools,
    messages,
    prepareStep: prepareStep(compactor),
  });
  const { textStream } = streamText({ model, messages, prepareStep: prepareStep(compactor) });
  const recall = recallTool(compactor, { conversationId: 'c', removalLogDirectory: 't' });
  const agent = new ToolLoopAgent({
    model,
    tools: { ...tools, recall },
    prepareStep: prepareStep(compactor),
  });
  const wrapped = wrapLanguageModel({ model, middleware: compactionMiddleware(compactor) });
  const compact = messageCompactor<seven.ModelMessage>(compactor);
  return [
    text,
    textStream,
    agent,
    generateText({ model: wrapped, messages: await compact(messages) }),
  ];
}

describe('PrepareStep', () => {
  it('is a PrepareStepFunction of both versions', () => {
    expectTypeOf<PrepareStep>().toExtend<six.PrepareStepFunction>();
    expectTypeOf<PrepareStep>().toExtend<seven.PrepareStepFunction<seven.ToolSet>>();
  });
});

describe('CompactionMiddleware', () => {
  it('is a LanguageModelMiddleware of both versions', () => {
    expectTypeOf<CompactionMiddleware>().toExtend<six.LanguageModelMiddleware>();
    expectTypeOf<CompactionMiddleware>().toExtend<seven.LanguageModelMiddleware>();
  });
});
