// What the cache mark before an edit saves with providers that cache at marks, such as Anthropic: `npm run cache-marks -- <file
// or folder>...`. Plays recorded sessions with the defaults, as an agent that marks its system prompt and the last two user
// messages.

import { compactingFetch, messageCompactor } from '../src/anthropic.js';
import { isAnswer } from '../src/cli/replay/session-player.js';
import { createCompactor } from '../src/index.js';
import type { Compactor } from '../src/index.js';
import { modelPrice } from '../src/main/models/model-prices.js';
import { CachingProvider } from '../test/support/caching-provider.js';
import { cachedRequestOf } from '../test/support/marked-request.js';
import { loadSessions } from './fidelity/load-sessions.js';
import { percentText } from './fidelity/policy-table.js';
import type { RecordedSession } from './fidelity/recorded-session.js';
import { SDK_ROUTES } from './fidelity/sdk-routes.js';

type Message = Readonly<Record<string, unknown>> & { readonly content: readonly object[] };
type Body = Readonly<Record<string, unknown>> & { readonly messages: readonly Message[] };

const MODEL = 'claude-sonnet-4-6';
const MARK = { cache_control: { type: 'ephemeral' } };
/** As long as the prompt of a small agent. */
const SYSTEM = [{ type: 'text', text: 'Be careful. '.repeat(1_500), ...MARK }];
const ROUTE = SDK_ROUTES.find(({ name }) => name === 'ctxfold/anthropic')!;

/** By name: how a request is transformed before it is sent. */
const WAYS: Readonly<Record<string, (compactor: Compactor) => (body: Body) => Promise<Body>>> = {
  'as given': () => (body) => Promise.resolve(body),
  'with the mark': (compactor) => {
    let sent: Body;
    const send = compactingFetch(compactor, {}, (_, request) => {
      sent = JSON.parse(request?.body as string) as Body;
      return Promise.resolve(Response.json({}));
    });
    return async (body) => {
      await send('https://api.anthropic.com/v1/messages', {
        method: 'POST',
        body: JSON.stringify(body),
      });
      return sent;
    };
  },
  'without it': (compactor) => {
    const compact = messageCompactor(compactor);
    return async (body) => ({
      ...body,
      messages: (await compact(body.messages as never, { modelName: MODEL })) as never,
    });
  },
};

const paths = process.argv.slice(2);
if (paths.length === 0) throw new RangeError('Expected files or folders with sessions.');

const { contexts } = await loadSessions(paths);
const costs: Record<string, { sum: number; ideal: number; dearest: number }> = {};
for (const session of contexts.filter(({ hasTexts }) => hasTexts !== false)) {
  const unchanged = await costOf(session, 'as given');
  for (const way of Object.keys(WAYS)) {
    const { dollars, idealDollars } = way === 'as given' ? unchanged : await costOf(session, way);
    const { sum = 0, ideal = 0, dearest = 0 } = costs[way] ?? {};
    costs[way] = {
      sum: sum + dollars,
      ideal: ideal + idealDollars,
      dearest: Math.max(dearest, dollars / (unchanged.dollars || 1)),
    };
  }
}
const whole = costs['as given'] ?? { sum: 1, ideal: 1 };
for (const [way, { sum, ideal, dearest }] of Object.entries(costs)) {
  process.stdout.write(
    `${way}: ${percentText(sum / whole.sum)} of the cost as given, dearest session ${percentText(dearest)}; ` +
      `if all prefixes were cached, ${percentText(ideal / whole.ideal)}\n`,
  );
}

/** Plays the model calls of a session. Resolves to the price of their input, and its price if every shared prefix were cached. */
async function costOf(
  { transcript }: RecordedSession,
  way: string,
): Promise<{ readonly dollars: number; readonly idealDollars: number }> {
  await using compactor = createCompactor({ workspaceRoot: transcript.workspaceRoot });
  const edit = WAYS[way]!(compactor);
  const [provider, ideal] = [0, 1].map(() => new CachingProvider(modelPrice(MODEL)!, () => 0));
  const messages: Message[] = [];
  for (const entry of transcript.entries) {
    if (isAnswer(entry) && messages.length > 0) {
      const body = { model: MODEL, max_tokens: 9, system: SYSTEM, messages: marked(messages) };
      const { marks, ...unmarked } = cachedRequestOf(await edit(body));
      provider!.take({ ...unmarked, marks: marks! });
      ideal!.take(unmarked);
    }
    const written = ROUTE.write(entry) as Message | undefined;
    const last = messages.at(-1);
    if (written === undefined) continue;
    // Roles must alternate.
    if (last !== undefined && last['role'] === written['role'])
      messages.splice(-1, 1, { ...last, content: [...last.content, ...written.content] });
    else messages.push(written);
  }
  return { dollars: provider!.dollars, idealDollars: ideal!.dollars };
}

/** The messages with cache marks on the last two user messages. */
function marked(messages: readonly Message[]): readonly Message[] {
  const users = messages.filter(({ role }) => role === 'user').slice(-2);
  return messages.map((message) => {
    if (!users.includes(message)) return message;
    const { content } = message;
    return { ...message, content: [...content.slice(0, -1), { ...content.at(-1), ...MARK }] };
  });
}
