// The command `mcp`: its options and help. What it does is loaded when it runs.

import { statSync } from 'node:fs';
import { Command } from 'commander';
import { EXIT_CODES_HELP } from './exit-codes.js';

const EXAMPLES_HELP = `
Examples:
  ctxfold mcp --transcript ~/.my-agent/session.removals.jsonl
  ctxfold mcp --transcript first.removals.jsonl --transcript second.removals.jsonl

As an entry of a client's configuration:
  { "mcpServers": { "ctxfold": { "command": "npx",
      "args": ["ctxfold", "mcp", "--transcript", "/path/to/transcript.jsonl"] } } }

${EXIT_CODES_HELP}`;

interface McpArguments {
  readonly transcript: readonly string[];
}

/** Makes the command. It runs until its input ends, and sets no exit code before. */
export function createMcpCommand(): Command {
  return new Command('mcp')
    .summary('serve what sessions took away to a model, over MCP')
    .description(
      'Serves the Model Context Protocol on standard input and output: the tool `recall` returns the ' +
        'original result of a tool call that was taken out of a conversation, `list_removed` lists what ' +
        'there is. Reads the transcripts that sessions with a `transcriptPath` write, also while they ' +
        'are being written; changes nothing. Ends when its input ends.',
    )
    .requiredOption(
      '--transcript <file>',
      'a transcript to read; may be given several times',
      (file: string, before: readonly string[] | undefined) => [...(before ?? []), file],
    )
    .addHelpText('after', EXAMPLES_HELP)
    .action(async ({ transcript }: McpArguments, command: Command) => {
      for (const path of transcript) {
        if (statSync(path, { throwIfNoEntry: false })?.isFile() !== false) continue;
        command.error(`error: --transcript: ${path} is no file.`);
      }
      const { runMcp } = await import('./run-mcp.js');
      runMcp(transcript);
    });
}
