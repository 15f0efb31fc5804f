// Reads tool calls in the shape of OpenAI's chat API, which several agents record.

import type { ToolCallBlock } from '../../shared/content.js';
import type { HistoryAssembler } from './history-assembler.js';
import { asArray, asFilledText, asRecord, asText, parseArguments } from '../../shared/json.js';
import type { TranscriptPlace } from './transcript.js';

/** The calls of a message: `tool_calls`, and the `function_call` of the older API. */
export function readToolCalls(
  message: Readonly<Record<string, unknown>>,
  history: HistoryAssembler,
  place: TranscriptPlace,
): readonly ToolCallBlock[] {
  const legacy = asRecord(message['function_call']);
  const recorded = [
    ...asArray(message['tool_calls']),
    ...(legacy === undefined ? [] : [{ function: legacy }]),
  ];
  return recorded.flatMap((item): readonly ToolCallBlock[] => {
    const call = asRecord(item);
    const called = asRecord(call?.['function']) ?? asRecord(call?.['custom']);
    const name = asFilledText(called?.['name']);
    if (name === undefined) {
      history.warn('A tool call without a name was left out.', place);
      return [];
    }
    const input = asText(called?.['input']);
    const parameters = input === undefined ? parseArguments(called?.['arguments']) : { input };
    return [{ type: 'tool_call', id: asText(call?.['id']) ?? '', name, parameters }];
  });
}
