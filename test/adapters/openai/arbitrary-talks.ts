// Random conversations of a user, a model and tools, each in the formats of Chat Completions, Responses and the Agents
// SDK, so that tests can compare the formats.

import type { AgentInputItem } from '@openai/agents';
import fc from 'fast-check';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { deepFreeze } from '../../support/deep-freeze.js';

type RunPart = 'reasoning' | 'message' | 'function' | 'custom' | 'search' | 'computer' | 'approval';

type Turn =
  | { readonly from: 'user' | 'system'; readonly hasParts: boolean }
  | { readonly from: 'model'; readonly parts: readonly RunPart[]; readonly areReversed: boolean };

/** One conversation in three formats. */
export interface Talk {
  readonly chat: readonly ChatCompletionMessageParam[];
  readonly responses: readonly ResponseInputItem[];
  readonly agents: readonly AgentInputItem[];
}

const turns: fc.Arbitrary<Turn> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ from: fc.constant('user' as const), hasParts: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ from: fc.constant('system' as const), hasParts: fc.boolean() }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      from: fc.constant('model' as const),
      parts: fc.array(
        fc.oneof(
          { weight: 6, arbitrary: fc.constantFrom<RunPart>('reasoning', 'message', 'function') },
          { weight: 3, arbitrary: fc.constant<RunPart>('function') },
          {
            weight: 1,
            arbitrary: fc.constantFrom<RunPart>('custom', 'search', 'computer', 'approval'),
          },
        ),
        { minLength: 1, maxLength: 6 },
      ),
      areReversed: fc.boolean(),
    }),
  },
);

/** A conversation of up to twelve turns, with unique ids, deeply frozen. */
export const arbitraryTalk: fc.Arbitrary<Talk> = fc
  .array(turns, { maxLength: 12 })
  .map((list) => deepFreeze(talkOf(list)));

function talkOf(list: readonly Turn[]): Talk {
  const chat: ChatCompletionMessageParam[] = [];
  const responses: ResponseInputItem[] = [];
  const agents: AgentInputItem[] = [];
  list.forEach((turn, at) => {
    if (turn.from !== 'model') {
      const text = `turn ${at}`;
      const parts = [{ type: 'input_text' as const, text }];
      chat.push({ role: turn.from, content: turn.hasParts ? [{ type: 'text', text }] : text });
      responses.push({ role: turn.from, content: turn.hasParts ? parts : text });
      if (turn.from === 'system') agents.push({ role: 'system', content: text });
      else agents.push({ type: 'message', role: 'user', content: turn.hasParts ? parts : text });
      return;
    }
    // Reasoning is never the last item of the model.
    const parts =
      turn.parts.at(-1) === 'reasoning' ? [...turn.parts, 'message' as const] : turn.parts;
    const named = parts.map((part, place) => ({ part, id: `${at}_${place}` }));
    const calls = named.filter(({ part }) => part === 'function' || part === 'custom');
    const answered = named.filter(({ part }) => OUTPUTS.has(part));
    if (turn.areReversed) answered.reverse();
    const text = named.flatMap(({ part, id }) => (part === 'message' ? [`said ${id}`] : []));
    if (text.length > 0 || calls.length > 0) {
      chat.push({
        role: 'assistant',
        content: text.length === 0 ? null : text.map((said) => ({ type: 'text', text: said })),
        ...(calls.length > 0 && { tool_calls: calls.map(chatCall) }),
      });
    }
    for (const { part, id } of answered) {
      if (part === 'approval' || part === 'computer') continue;
      chat.push({ role: 'tool', tool_call_id: `call_${id}`, content: `result ${id}` });
    }
    for (const { part, id } of named) {
      responses.push(responseItem(part, id));
      agents.push(agentItem(part, id));
    }
    for (const { part, id } of answered) {
      responses.push(responseOutput(part, id));
      agents.push(agentOutput(part, id));
    }
  });
  return { chat, responses, agents };
}

const OUTPUTS: ReadonlySet<RunPart> = new Set(['function', 'custom', 'computer', 'approval']);

interface NamedPart {
  readonly part: RunPart;
  readonly id: string;
}

function chatCall({ part, id }: NamedPart) {
  return part === 'custom'
    ? ({ id: `call_${id}`, type: 'custom', custom: { name: 'patch', input: id } } as const)
    : ({
        id: `call_${id}`,
        type: 'function',
        function: { name: 'read_file', arguments: `{"path":"${id}"}` },
      } as const);
}

function responseItem(part: RunPart, id: string): ResponseInputItem {
  const call = { call_id: `call_${id}` };
  switch (part) {
    case 'reasoning':
      return {
        type: 'reasoning',
        id: `rs_${id}`,
        summary: [{ type: 'summary_text', text: `thought ${id}` }],
        encrypted_content: `sealed ${id}`,
      };
    case 'message':
      return {
        type: 'message',
        id: `msg_${id}`,
        role: 'assistant',
        status: 'completed',
        content: [
          { type: 'output_text', text: `said ${id}`, annotations: [] },
          { type: 'refusal', refusal: 'and no more' },
        ],
      };
    case 'function':
      return { type: 'function_call', id: `fc_${id}`, ...call, name: 'read_file', arguments: '{}' };
    case 'custom':
      return { type: 'custom_tool_call', id: `ctc_${id}`, ...call, name: 'patch', input: id };
    case 'search':
      return {
        type: 'web_search_call',
        id: `ws_${id}`,
        status: 'completed',
        action: { type: 'search', query: id, queries: [id] },
      };
    case 'computer':
      return {
        type: 'computer_call',
        id: `cu_${id}`,
        ...call,
        status: 'completed',
        action: { type: 'screenshot' },
        pending_safety_checks: [],
      };
    case 'approval':
      return {
        type: 'mcp_approval_request',
        id: `mcpr_${id}`,
        name: 'delete',
        arguments: '{}',
        server_label: 'files',
      };
  }
}

function responseOutput(part: RunPart, id: string): ResponseInputItem {
  const call = { call_id: `call_${id}` };
  switch (part) {
    case 'computer':
      return {
        type: 'computer_call_output',
        ...call,
        output: { type: 'computer_screenshot', image_url: 'data:image/png;base64,AAAA' },
      };
    case 'approval':
      return { type: 'mcp_approval_response', approval_request_id: `mcpr_${id}`, approve: true };
    case 'custom':
      return { type: 'custom_tool_call_output', ...call, output: `result ${id}` };
    default:
      return {
        type: 'function_call_output',
        ...call,
        output: [
          { type: 'input_text', text: `result ${id}` },
          { type: 'input_text', text: 'more', prompt_cache_breakpoint: { mode: 'explicit' } },
        ],
      };
  }
}

function agentItem(part: RunPart, id: string): AgentInputItem {
  const callId = `call_${id}`;
  switch (part) {
    case 'reasoning':
      return {
        type: 'reasoning',
        id: `rs_${id}`,
        content: [{ type: 'input_text', text: `thought ${id}` }],
        providerData: { encrypted_content: `sealed ${id}` },
      };
    case 'message':
      return {
        type: 'message',
        id: `msg_${id}`,
        role: 'assistant',
        status: 'completed',
        content: [
          { type: 'output_text', text: `said ${id}` },
          { type: 'refusal', refusal: 'and no more' },
        ],
      };
    case 'function':
    case 'custom':
      return { type: 'function_call', id: `fc_${id}`, callId, name: 'read_file', arguments: '{}' };
    case 'search':
      return {
        type: 'hosted_tool_call',
        id: `ws_${id}`,
        name: 'web_search_call',
        status: 'completed',
        providerData: { type: 'web_search_call', action: { type: 'search', query: id } },
      };
    case 'computer':
      return {
        type: 'computer_call',
        id: `cu_${id}`,
        callId,
        status: 'completed',
        action: { type: 'screenshot' },
      };
    case 'approval':
      return {
        type: 'hosted_tool_call',
        id: `mcpr_${id}`,
        name: 'mcp_approval_request',
        providerData: { type: 'mcp_approval_request', id: `mcpr_${id}` },
      };
  }
}

function agentOutput(part: RunPart, id: string): AgentInputItem {
  const callId = `call_${id}`;
  switch (part) {
    case 'computer':
      return {
        type: 'computer_call_result',
        callId,
        output: { type: 'computer_screenshot', data: 'data:image/png;base64,AAAA' },
      };
    case 'approval':
      return {
        type: 'hosted_tool_call',
        name: 'mcp_approval_response',
        providerData: { type: 'mcp_approval_response', approval_request_id: `mcpr_${id}` },
      };
    default:
      return {
        type: 'function_call_result',
        name: 'read_file',
        callId,
        status: 'completed',
        output: { type: 'text', text: `result ${id}`, providerData: { kept: true } },
      };
  }
}
