// The command `mcp`: options and help. The implementation is loaded when it runs.

import { statSync } from 'node:fs';
import { Command, Option } from 'commander';
import type { SessionScope } from '../../removal-log.js';
import { SERVICE_EXIT_CODES_HELP } from '../terminal/exit-codes.js';
import { collectValues, UsageError } from '../terminal/options.js';

const EXAMPLES_HELP = `
Examples:
  ctxfold mcp --removal-log ~/.my-agent/session.removals.jsonl
  ctxfold mcp --removal-log ~/.ctxfold \\
    --session 2f0c7d1e-5c1b-4a5e-9a53-0d1b8f5a1c22
  ctxfold mcp --all-sessions \\
    --removal-log first.removals.jsonl --removal-log second.removals.jsonl

Needs the package @modelcontextprotocol/server. As an entry of a client's configuration:
  { "mcpServers": { "ctxfold": { "command": "npx",
      "args": ["-y", "-p", "ctxfold", "-p", "@modelcontextprotocol/server",
        "ctxfold", "mcp", "--removal-log", "/path/to/session.removals.jsonl"] } } }

Each line of a removal log has the \`sessionId\` of its session.

${SERVICE_EXIT_CODES_HELP}`;

const SEVERAL_SESSIONS =
  'the removal logs hold several sessions: choose one with --session <id>, ' +
  'or serve all with --all-sessions.';

const SERVER_MISSING =
  'The server needs a package that is not installed beside ctxfold: run `npm install @modelcontextprotocol/server`.';

/** Whether the MCP server package is missing. It is an optional peer dependency that only this command needs. */
function isServerMissing(error: unknown): boolean {
  return error instanceof Error && /Cannot find package '@modelcontextprotocol/.test(error.message);
}

interface McpArguments {
  readonly removalLog: readonly string[];
  readonly session?: string;
  readonly allSessions?: true;
}

/** Creates the command. It runs until stdin ends, and sets no exit code. */
export function createMcpCommand(): Command {
  return new Command('mcp')
    .description(
      'Serves the Model Context Protocol on standard input and output: the tool `recall` returns the ' +
        'original result of a tool call that was removed from a conversation, `list_removed` lists what ' +
        'there is. Reads the removal logs that sessions with a `removalLogDirectory` write, even while they ' +
        'are being written; never writes. Exits when its input ends.',
    )
    .requiredOption(
      '--removal-log <path>',
      'a removal log to read, or a folder of them; repeatable',
      collectValues,
    )
    .option('--session <id>', 'the session to serve; needed if the logs hold several')
    .addOption(
      new Option('--all-sessions', 'serve the results of all sessions').conflicts('session'),
    )
    .addHelpText('after', EXAMPLES_HELP)
    .action(async ({ removalLog: paths, session, allSessions }: McpArguments) => {
      if (session === '') throw new UsageError('--session: expected a session id.');
      for (const path of paths) {
        if (path === '-')
          throw new UsageError('--removal-log: standard input is used by the protocol.');
        const there = statSync(path, { throwIfNoEntry: false });
        if (there?.isFile() === false && !there.isDirectory())
          throw new UsageError(`--removal-log: ${path} is neither a file nor a folder.`);
      }
      const scope: SessionScope | undefined =
        session === undefined
          ? allSessions && { acrossSessions: allSessions }
          : { sessionId: session };
      const { chooseRecall } = await import('./recall-choice.js');
      if ((await chooseRecall({ paths, scope })) === 'several')
        throw new UsageError(SEVERAL_SESSIONS);
      const server = await import('./run-mcp.js').catch((error: unknown) => {
        throw isServerMissing(error) ? new Error(SERVER_MISSING, { cause: error }) : error;
      });
      server.runMcp({ paths, scope });
    });
}
