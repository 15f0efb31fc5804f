// Random histories as an agent loop sends them: they start with the user, every call is answered, arguments are objects, no
// entry ends with reasoning, and nearly all call ids are unique.

import fc from 'fast-check';

import { hasSubstance, humanText, toolContent, toolResponse } from '../../src/shared/content.js';
import type { ContentBlock, IContent, ToolCallBlock } from '../../src/shared/content.js';
import { arbitraryHistory } from './arbitrary-history.js';
import type { ArbitraryHistoryOptions } from './arbitrary-history.js';

/** Generates valid histories, nearly all of which every provider accepts. */
export function arbitrarySendableHistory(
  options: ArbitraryHistoryOptions = {},
): fc.Arbitrary<IContent[]> {
  return fc
    .record({
      history: arbitraryHistory(options),
      hasOwnIds: fc.constantFrom(...Array.from({ length: 19 }, () => true), false),
      hasItemIds: fc.boolean(),
      summaryAt: fc.constantFrom(null, null, 0, 3),
    })
    .map(({ history, hasOwnIds, hasItemIds, summaryAt }) => {
      const answered = withAnswers(history, hasOwnIds);
      const asked = answered[0]?.speaker === 'human' ? answered : [humanText('go'), ...answered];
      let items = 0;
      return asked.map((entry, at) => {
        if (at === summaryAt && entry.speaker === 'human') {
          return humanText('what was done so far', { isSummary: true });
        }
        const blocks = entry.blocks.map((block) => {
          if (block.type === 'tool_call') return withObjectArguments(block);
          if (block.type !== 'thinking' || !hasItemIds) return block;
          items += 1;
          return { ...block, signature: `rs_${String(items)}` };
        });
        return { ...entry, blocks: withLastWord(blocks) };
      });
    });
}

/**
 * Gives calls unique ids or leaves their own, and answers pending ones. A response goes to the newest pending call with its
 * original id.
 */
function withAnswers(history: readonly IContent[], hasOwnIds: boolean): IContent[] {
  const waiting = new Map<string, ToolCallBlock[]>();
  let calls = 0;
  const named = history.map((entry) => {
    const blocks = entry.blocks.flatMap((block): readonly ContentBlock[] => {
      if (block.type === 'tool_call') {
        calls += 1;
        const call = hasOwnIds ? { ...block, id: `own_${String(calls)}` } : block;
        waiting.set(block.id, [...(waiting.get(block.id) ?? []), call]);
        return [call];
      }
      if (block.type !== 'tool_response') return [block];
      if (block.isComplete === false) return [];
      return [{ ...block, callId: waiting.get(block.callId)?.pop()?.id ?? block.callId }];
    });
    return { ...entry, blocks };
  });
  const open = [...waiting.values()].flat();
  const answers = open.map(({ id, name }) => toolResponse(id, name, 'done'));
  const entries = named.filter(({ speaker, blocks }) => speaker !== 'tool' || blocks.length > 0);
  return answers.length === 0 ? entries : [...entries, toolContent(answers)];
}

function withObjectArguments(call: ToolCallBlock): ToolCallBlock {
  const { parameters } = call;
  const isObject =
    typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters);
  return isObject ? call : { ...call, parameters: { value: parameters } };
}

function withLastWord(blocks: readonly ContentBlock[]): readonly ContentBlock[] {
  const thought = blocks.findLastIndex(({ type }) => type === 'thinking');
  const isLast = thought > blocks.findLastIndex(hasSubstance);
  return isLast ? [...blocks, { type: 'text', text: 'that is it' }] : blocks;
}
