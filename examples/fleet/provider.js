// A scripted provider with a prompt cache that validates each request: is it well-formed, does it extend the previous
// request, does it contain everything the user said.

import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { validate } from 'ctxfold/validate';

const LINES = 60;

/** The model's answer in a turn: it reads three files, writes them, and sometimes says that it is done. */
export function answerOf(turn) {
  const path = `src/file-${turn % 3}.ts`;
  if (turn % 8 === 7)
    return { role: 'assistant', content: [{ type: 'text', text: `done ${turn}` }] };
  const input = turn % 2 === 0 ? { path } : { path, content: `new ${turn}` };
  const name = turn % 2 === 0 ? 'read_file' : 'write_file';
  return { role: 'assistant', content: [{ type: 'tool_use', id: `call${turn}`, name, input }] };
}

/** The message that follows an answer: a tool result, or the user's next request. */
export function nextOf(conversation, turn, { content: [block] }) {
  if (block.type === 'text') return { role: 'user', content: `${conversation}, ask ${turn}.` };
  const lines = Array.from(
    { length: LINES },
    (_, at) => `line ${at} of ${turn} as ${conversation} has it`,
  );
  const content = block.name === 'read_file' ? lines.join('\n') : 'written';
  return { role: 'user', content: [{ type: 'tool_result', tool_use_id: block.id, content }] };
}

/** Starts a provider; `seen` holds its statistics. */
export async function startProvider() {
  const seen = {
    requests: 0,
    characters: 0,
    cached: 0,
    edits: 0,
    invalid: 0,
    lost: 0,
    rewritten: 0,
    untold: 0,
  };
  const examples = [];
  const conversations = new Map();
  const look = ({ messages, metadata: { conversation, landed, turn } }) => {
    const note = (kind, why) => {
      seen[kind] += 1;
      if (examples.length < 10) examples.push(`${kind}: ${conversation}, turn ${turn}: ${why}`);
    };
    const texts = messages.map((message) => JSON.stringify(message));
    const former = conversations.get(conversation) ?? { texts: [], landed: 0, turn: -1 };
    const same = texts.findIndex((text, at) => text !== former.texts[at]);
    const common = same === -1 ? texts.length : same;
    const length = (list) => list.reduce((sum, text) => sum + text.length, 0);
    seen.requests += 1;
    seen.characters += length(texts);
    seen.cached += length(texts.slice(0, common));
    seen.edits += Math.max(0, landed - former.landed);
    if (landed < former.landed)
      note('lost', `${landed} edits have landed, and ${former.landed} had`);
    else if (landed === former.landed && common < former.texts.length)
      note(
        'rewritten',
        `message ${common} of ${former.texts.length} is another, and no edit has landed`,
      );
    const [violation] = validate(messages.flatMap(entriesOf), 'anthropic');
    if (violation !== undefined) note('invalid', violation.message);
    const all = texts.join('\n');
    for (let asked = -1; asked < turn; asked += 8) {
      const count = all.split(`"${conversation}, ask ${asked}."`).length - 1;
      if (count !== 1)
        note('untold', `what the user has asked in turn ${asked} is there ${count} times`);
    }
    if (turn >= former.turn) conversations.set(conversation, { texts, landed, turn });
    return violation?.message;
  };
  const server = createServer(async (request, response) => {
    const body = await json(request);
    const error = look(body);
    const message = answerOf(body.metadata.turn);
    response.writeHead(error === undefined ? 200 : 400).end(JSON.stringify({ message, error }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    seen,
    examples,
    /** The last request of a conversation, and how many edits had landed. */
    last: (conversation) => conversations.get(conversation),
    close: () => (server.closeAllConnections(), server.close()),
  };
}

function entriesOf({ role, content }) {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return blocks.map((block) => {
    if (block.type === 'tool_result') {
      const { tool_use_id: callId, content: result } = block;
      return {
        speaker: 'tool',
        blocks: [{ type: 'tool_response', callId, toolName: 'tool', result }],
      };
    }
    if (block.type === 'tool_use') {
      const { id, name, input } = block;
      return { speaker: 'ai', blocks: [{ type: 'tool_call', id, name, parameters: input }] };
    }
    return {
      speaker: role === 'user' ? 'human' : 'ai',
      blocks: [{ type: 'text', text: block.text }],
    };
  });
}
