// Histories as recordings: one writer for each transcript format. Empty ids are omitted, as agents do.

import type { ContentBlock, IContent } from '../../src/index.js';
import { SDK_ROUTES } from '../fidelity/sdk-routes.js';
import type { TranscriptFormat } from '../../src/transcripts.js';

const SDK = SDK_ROUTES.find(({ name }) => name === 'ctxfold/ai-sdk');
if (SDK === undefined) throw new Error('No route writes messages of the AI SDK.');
const { write: sdkMessage } = SDK;

type Json = Readonly<Record<string, unknown>>;

/** Returns the text of a recording. */
export function recordingOf(history: readonly IContent[], format: TranscriptFormat): string {
  switch (format) {
    case 'claude-code':
      return lines(history.flatMap(claudeCodeRecords));
    case 'codex':
      return lines(history.flatMap(codexItems).map(codexRecord));
    case 'pi':
      return lines(history.flatMap(piMessages).map(piRecord));
    case 'gemini-cli':
      return JSON.stringify({ sessionId: 's', messages: history.flatMap(geminiMessages) });
    case 'openai-chat':
      return JSON.stringify(history.flatMap(chatMessages));
    case 'ai-sdk':
      return JSON.stringify(history.flatMap((entry) => sdkMessage(entry) ?? []));
    case 'cline':
      return JSON.stringify({ messages: history.map(clineMessage) });
    case 'swe-agent':
      return JSON.stringify({ history: history.flatMap(sweAgentMessages) });
    case 'mini-swe-agent':
      return JSON.stringify({
        trajectory_format: 'mini-swe-agent-1',
        messages: history.flatMap(miniSweAgentMessages),
      });
  }
}

function lines(records: readonly Json[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

function id(name: string, value: string): Json {
  return value === '' ? {} : { [name]: value };
}

function textOf(block: ContentBlock): string {
  return block.type === 'text' ? block.text : '';
}

function resultText(result: unknown): string {
  return typeof result === 'string' ? result : JSON.stringify(result);
}

function anthropicBlock(block: ContentBlock): Json {
  switch (block.type) {
    case 'tool_call':
      return { type: 'tool_use', ...id('id', block.id), name: block.name, input: block.parameters };
    case 'tool_response':
      return { type: 'tool_result', ...id('tool_use_id', block.callId), content: block.result };
    case 'thinking':
      return { type: 'thinking', thinking: block.thought, signature: 's' };
    default:
      return { type: 'text', text: textOf(block) };
  }
}

function piMessages({ speaker, blocks }: IContent): readonly Json[] {
  if (speaker === 'tool') {
    return blocks.map((block) =>
      block.type === 'tool_response'
        ? { role: 'toolResult', ...id('toolCallId', block.callId), content: block.result }
        : {},
    );
  }
  const content = blocks.map((block) =>
    block.type === 'tool_call'
      ? { type: 'toolCall', ...id('id', block.id), name: block.name, arguments: block.parameters }
      : { type: 'text', text: textOf(block) },
  );
  return [{ role: speaker === 'ai' ? 'assistant' : 'user', content }];
}

function piRecord(message: Json, at: number): Json {
  const parentId = at === 0 ? null : `e${at - 1}`;
  return { type: 'message', id: `e${at}`, parentId, timestamp: '2026-01-01T00:00:00Z', message };
}

function claudeCodeRecords({ speaker, blocks }: IContent, at: number): readonly Json[] {
  const role = speaker === 'ai' ? 'assistant' : 'user';
  const common = { type: role, uuid: `u${at}`, sessionId: 's' };
  if (role === 'user')
    return [{ ...common, message: { role, content: blocks.map(anthropicBlock) } }];
  // A message takes one line per block.
  return blocks.map((block, part) => ({
    ...common,
    uuid: `u${at}.${part}`,
    message: { role, id: `m${at}`, content: [anthropicBlock(block)] },
  }));
}

function clineMessage({ speaker, blocks }: IContent): Json {
  const role = speaker === 'ai' ? 'assistant' : 'user';
  return { role, modelInfo: { id: 'model' }, content: blocks.map(anthropicBlock) };
}

function codexItems({ speaker, blocks }: IContent): readonly Json[] {
  return blocks.map((block): Json => {
    switch (block.type) {
      case 'tool_call':
        return {
          type: 'function_call',
          ...id('call_id', block.id),
          name: block.name,
          arguments: JSON.stringify(block.parameters),
        };
      case 'tool_response':
        return {
          type: 'function_call_output',
          ...id('call_id', block.callId),
          output: block.result,
        };
      case 'thinking':
        return { type: 'reasoning', summary: [{ type: 'summary_text', text: block.thought }] };
      default: {
        const role = speaker === 'ai' ? 'assistant' : 'user';
        return { type: 'message', role, content: [{ type: 'input_text', text: textOf(block) }] };
      }
    }
  });
}

function codexRecord(payload: Json): Json {
  return { type: 'response_item', payload };
}

function geminiMessages({ speaker, blocks }: IContent): readonly Json[] {
  const content = blocks
    .filter(({ type }) => type === 'text')
    .map((block) => ({ text: textOf(block) }));
  if (speaker === 'human') return [{ type: 'user', content }];
  if (speaker === 'tool') return [];
  const toolCalls = blocks.flatMap((block) =>
    block.type === 'tool_call'
      ? [
          {
            ...id('id', block.id),
            name: block.name,
            args: block.parameters,
            status: 'success',
            result: [{ functionResponse: { response: { output: 'done' } } }],
          },
        ]
      : [],
  );
  return [{ type: 'gemini', content, toolCalls }];
}

function chatMessages({ speaker, blocks }: IContent): readonly Json[] {
  if (speaker === 'tool') {
    return blocks.flatMap((block) =>
      block.type === 'tool_response'
        ? [
            {
              role: 'tool',
              ...id('tool_call_id', block.callId),
              content: resultText(block.result),
            },
          ]
        : [],
    );
  }
  const content = blocks
    .filter(({ type }) => type === 'text')
    .map((block) => ({ type: 'text', text: textOf(block) }));
  if (speaker === 'human') return [{ role: 'user', content }];
  const calls = blocks.flatMap((block) =>
    block.type === 'tool_call'
      ? [
          {
            ...id('id', block.id),
            type: 'function',
            function: { name: block.name, arguments: JSON.stringify(block.parameters) },
          },
        ]
      : [],
  );
  return [{ role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }];
}

/** Calls as commands in the text of separate messages, each answered by the next message. */
function commandMessages(
  { speaker, blocks }: IContent,
  called: (command: string) => Json,
): readonly Json[] {
  return blocks.map((block): Json => {
    if (block.type === 'tool_call')
      return { role: 'assistant', ...called(JSON.stringify(block.parameters)) };
    if (block.type === 'tool_response') return { role: 'user', content: resultText(block.result) };
    return { role: speaker === 'ai' ? 'assistant' : 'user', content: textOf(block) };
  });
}

function sweAgentMessages(entry: IContent): readonly Json[] {
  return commandMessages(entry, (command) => ({
    content: `run ${command}`,
    thought: 'so',
    action: `run ${command}`,
  }));
}

function miniSweAgentMessages(entry: IContent): readonly Json[] {
  return commandMessages(entry, (command) => ({ content: `so\n\`\`\`bash\n${command}\n\`\`\`\n` }));
}
