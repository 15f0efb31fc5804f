// One conversation as request bodies of four APIs: an agent reads files, writes them, and reads again.

/** An API as a client uses it. */
export interface ApiTalk {
  readonly name: 'anthropic' | 'responses' | 'chat' | 'gemini';
  readonly path: string;
  /** The field with the messages. */
  readonly list: 'messages' | 'input' | 'contents';
  readonly user: (text: string) => object;
  readonly system: (text: string) => object | undefined;
  /** A tool call with its result. */
  readonly use: (id: string, name: string, input: object, result: string) => readonly object[];
  readonly answer: (text: string) => object;
  /** The fields other than the messages. */
  readonly besides: object;
}

export const API_TALKS: readonly ApiTalk[] = [
  {
    name: 'anthropic',
    path: '/v1/messages?beta=true',
    list: 'messages',
    user: (text) => ({ role: 'user', content: [{ type: 'text', text }] }),
    system: () => undefined,
    use: (id, name, input, result) => [
      { role: 'assistant', content: [{ type: 'tool_use', id, name, input }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: result }] },
    ],
    answer: (text) => ({ role: 'assistant', content: [{ type: 'text', text }] }),
    besides: { model: 'claude-sonnet-4-5', max_tokens: 1_000, tools: [{ name: 'read_file' }] },
  },
  {
    name: 'responses',
    path: '/v1/responses',
    list: 'input',
    user: (text) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }),
    system: (content) => ({ role: 'developer', content }),
    use: (id, name, input, output) => [
      { type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) },
      { type: 'function_call_output', call_id: id, output },
    ],
    answer: (text) => ({ role: 'assistant', content: [{ type: 'output_text', text }] }),
    besides: { model: 'gpt-5.5', store: false, tools: [{ type: 'function', name: 'read_file' }] },
  },
  {
    name: 'chat',
    path: '/v1/chat/completions',
    list: 'messages',
    user: (content) => ({ role: 'user', content }),
    system: (content) => ({ role: 'system', content }),
    use: (id, name, input, content) => [
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id, type: 'function', function: { name, arguments: JSON.stringify(input) } },
        ],
      },
      { role: 'tool', tool_call_id: id, content },
    ],
    answer: (content) => ({ role: 'assistant', content }),
    besides: { model: 'gpt-5.5', stream: true, tools: [{ type: 'function' }] },
  },
  {
    name: 'gemini',
    path: '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
    list: 'contents',
    user: (text) => ({ role: 'user', parts: [{ text }] }),
    system: () => undefined,
    use: (id, name, args, output) => [
      { role: 'model', parts: [{ functionCall: { id, name, args } }] },
      { role: 'user', parts: [{ functionResponse: { id, name, response: { output } } }] },
    ],
    answer: (text) => ({ role: 'model', parts: [{ text }] }),
    besides: { generationConfig: { temperature: 1 }, tools: [{ functionDeclarations: [] }] },
  },
];

/** The messages of a session with that many steps: each reads the file that the previous one wrote, and writes it. */
export function talk(api: ApiTalk, steps: number, lines: number = 80): readonly object[] {
  const text = (step: number): string =>
    Array.from({ length: lines }, (_, at) => `line ${at} of what step ${step} has seen`).join('\n');
  const messages: object[] = [];
  const system = api.system('be brief');
  if (system !== undefined) messages.push(system);
  messages.push(api.user('make it work'));
  for (let step = 0; step < steps; step += 1) {
    const path = `src/file-${step % 3}.ts`;
    messages.push(...api.use(`r${step}`, 'read_file', { path }, text(step)));
    messages.push(
      ...api.use(`w${step}`, 'write_file', { path, content: `new ${step}` }, 'written'),
    );
  }
  return messages;
}

/** A request body. */
export function bodyOf(api: ApiTalk, messages: readonly object[], besides: object = {}): string {
  return JSON.stringify({ ...api.besides, [api.list]: messages, ...besides });
}
