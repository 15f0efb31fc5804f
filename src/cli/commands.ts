// The table of commands. Imports each lazily, so that only the requested command is loaded.

import type { Command } from 'commander';

/** A command, described without loading it. */
export interface CommandEntry {
  readonly name: string;
  /** Description in the list of commands. */
  readonly summary: string;
  /** Arguments in the list of commands, such as `<file>`. Must match the usage that the loaded command states. */
  readonly arguments: string;
  /** Loads the command's factory. A run that completes sets `process.exitCode`. */
  readonly load: () => Promise<() => Command>;
}

/** All commands, in the order of the help text. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'replay',
    summary: 'show what ctxfold saves on recorded sessions',
    arguments: '<path>',
    load: async () => (await import('./replay/replay-command.js')).createReplayCommand,
  },
  {
    name: 'report',
    summary: 'write an HTML page about recorded sessions',
    arguments: '<path>',
    load: async () => (await import('./report/report-command.js')).createReportCommand,
  },
  {
    name: 'analyze',
    summary: 'show what sessions consist of, what stays and why',
    arguments: '<path>',
    load: async () => (await import('./analyze/analyze-command.js')).createAnalyzeCommand,
  },
  {
    name: 'gateway',
    summary: 'run a proxy that shows what compaction would save, or compacts',
    arguments: '',
    load: async () => (await import('./gateway/gateway-command.js')).createGatewayCommand,
  },
  {
    name: 'run',
    summary: 'run an agent behind its own gateway',
    arguments: '<command...>',
    load: async () => (await import('./gateway/gateway-command.js')).createRunCommand,
  },
  {
    name: 'worker',
    summary: 'run queued summary jobs of a fleet',
    arguments: '',
    load: async () => (await import('./worker/worker-command.js')).createWorkerCommand,
  },
  {
    name: 'mcp',
    summary: 'let a model recall removed content, over MCP',
    arguments: '',
    load: async () => (await import('./mcp/mcp-command.js')).createMcpCommand,
  },
];

/** Returns the command that the arguments name, as in `replay …` or `help replay`. */
export function namedCommand(args: readonly string[]): string | undefined {
  const [first, second] = args.filter((arg) => !arg.startsWith('-'));
  return first === 'help' ? second : first;
}
