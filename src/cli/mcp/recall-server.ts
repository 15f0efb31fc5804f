// The MCP server over removal logs: its tools and their answers. Failures are returned to the model as text.

import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { restore } from '../../removal-log.js';
import type { RestoredResponse } from '../../removal-log.js';
import { CtxfoldError } from '../../index.js';
import { chooseRecall } from './recall-choice.js';
import type { RecallSource } from './recall-choice.js';
import { readRemovedPage } from './removed-page.js';
import type { RemovedPage } from './removed-page.js';

const MAX_PAGE = 200;
const DEFAULT_PAGE = 50;
const MAX_SHOWN_ID_LENGTH = 100;

const RECALL_DESCRIPTION =
  'Returns the full original result of an earlier tool call that was shortened to a placeholder to save ' +
  'space, such as [read_file: src/a.ts — success, 120 lines; recall("call_1") for the original], or ' +
  'removed altogether. Use it when you need details that are gone, instead of running the tool again. The ' +
  'result is as old as the call: to see the current state, run the tool again.';

const LIST_DESCRIPTION =
  'Lists tool results that were removed from the conversation and that `recall` can return, newest ' +
  'first: id, tool, key parameter, outcome and size of each. Use it to find the id of a result that ' +
  'you know was there but see no placeholder for.';

const SEVERAL_SESSIONS =
  'Nothing can be given back: what was removed belongs to several conversations, and this server was not told which one ' +
  'is yours. Run the tool again if you need its result, and tell the user to start ctxfold mcp with --session.';

const READ_ONLY = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

/**
 * Creates the server. Each call reads the removal logs anew, so logs that grow or appear later are seen.
 */
export function createRecallServer(source: RecallSource, version: string): McpServer {
  const server = new McpServer({ name: 'ctxfold', version });
  server.registerTool(
    'recall',
    {
      title: 'Recall a removed result',
      description: RECALL_DESCRIPTION,
      inputSchema: fromJsonSchema<{ readonly id: string }>({
        type: 'object',
        properties: {
          id: {
            type: 'string',
            description: 'The quoted id in the placeholder, without the quotes.',
          },
        },
        required: ['id'],
      }),
      annotations: READ_ONLY,
    },
    ({ id }) => recall(source, id),
  );
  server.registerTool(
    'list_removed',
    {
      title: 'List removed results',
      description: LIST_DESCRIPTION,
      inputSchema: fromJsonSchema<{ readonly limit?: number; readonly cursor?: string }>({
        type: 'object',
        properties: {
          limit: {
            type: 'integer',
            minimum: 1,
            maximum: MAX_PAGE,
            default: DEFAULT_PAGE,
            description: 'Maximum number of results.',
          },
          cursor: { type: 'string', description: 'The cursor that the previous page named.' },
        },
      }),
      annotations: READ_ONLY,
    },
    ({ limit = DEFAULT_PAGE, cursor }) => list(source, limit, cursor),
  );
  return server;
}

async function recall(source: RecallSource, id: string): Promise<CallToolResult> {
  const found = await latestOf(source, id).catch(() => 'unread' as const);
  if (typeof found === 'object') return answer(originalText(found));
  if (found === 'several') return refusal(SEVERAL_SESSIONS);
  const shown = JSON.stringify(id.slice(0, MAX_SHOWN_ID_LENGTH));
  return refusal(
    found === 'unread'
      ? `The original of ${shown} cannot be read just now. Run the tool again if you need its result.`
      : `No original is on record for ${shown}. If its result stands in the conversation, read it there; ` +
          'else ask list_removed for the ids that there are, or run the tool again.',
  );
}

/** Returns the newest recorded original, or why there is none; `unread`: a log that may hold it could not be read. */
async function latestOf(
  source: RecallSource,
  id: string,
): Promise<RestoredResponse | 'none' | 'several' | 'unread'> {
  const choice = await chooseRecall(source);
  if (typeof choice === 'string') return choice;
  const { paths, scope } = choice;
  const outcomes = await Promise.allSettled(paths.map((path) => restore(path, id, scope)));
  const found = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const latest = found.toSorted((a, b) => a.recordedAt - b.recordedAt).at(-1);
  if (latest !== undefined) return latest;
  const isUnread = outcomes.some((each) => each.status === 'rejected' && !isNotInLog(each.reason));
  return isUnread ? 'unread' : 'none';
}

function isNotInLog(thrown: unknown): boolean {
  return thrown instanceof CtxfoldError && thrown.code === 'NOT_IN_REMOVAL_LOG';
}

/** Returns a string unchanged and other values as JSON. Falls back to the error, because a failed tool may have no result. */
function originalText({ response: { result, error } }: RestoredResponse): string {
  const isSilent = result === undefined || result === null || result === '';
  const original = isSilent && error !== undefined ? error : result;
  return typeof original === 'string' ? original : JSON.stringify(original ?? null);
}

async function list(
  source: RecallSource,
  limit: number,
  cursor: string | undefined,
): Promise<CallToolResult> {
  try {
    const page = await readRemovedPage(source, limit, cursor);
    return page === 'several' ? refusal(SEVERAL_SESSIONS) : answer(pageText(page));
  } catch (thrown) {
    return refusal(
      thrown instanceof RangeError
        ? `${thrown.message} Leave it out to begin with the newest.`
        : 'What was removed cannot be listed just now. `recall` may work with an id from a placeholder.',
    );
  }
}

function pageText({ results, total, nextCursor }: RemovedPage): string {
  if (total === 0) return 'Nothing was removed so far.';
  const lines = results.map(
    ({ callId, line, removedAt }) =>
      `${JSON.stringify(callId)} ${line} removed ${new Date(removedAt).toISOString()}`,
  );
  const more =
    nextCursor === undefined
      ? []
      : [`Older ones: list_removed with cursor ${JSON.stringify(nextCursor)}.`];
  return [`${results.length} of ${total}:`, ...lines, ...more].join('\n');
}

function answer(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}

function refusal(text: string): CallToolResult {
  return { ...answer(text), isError: true };
}
