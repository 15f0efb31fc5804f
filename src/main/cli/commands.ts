// The table of commands. Imports each lazily, so that only the requested command is loaded.

import type { Command } from 'commander';

/** A command that is not loaded yet. */
export interface CommandEntry {
  readonly name: string;
  /** Its line in the list of commands. */
  readonly summary: string;
  /** Its arguments for the list, such as `<file>`; must match the command's own. */
  readonly arguments: string;
  /** Loads the command's factory. A run that completes passes its exit code to `onExit`. */
  readonly load: () => Promise<(onExit: (code: number) => void) => Command>;
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
    summary: 'write a page about recorded sessions',
    arguments: '<path>',
    load: async () => (await import('./report/report-command.js')).createReportCommand,
  },
  {
    name: 'analyze',
    summary: 'tell what sessions consist of, and what stays and why',
    arguments: '<path>',
    load: async () => (await import('./analyze/analyze-command.js')).createAnalyzeCommand,
  },
  {
    name: 'gateway',
    summary: 'stand between agents and their providers, and show or save what can be saved',
    arguments: '',
    load: async () => (await import('./gateway/gateway-command.js')).createGatewayCommand,
  },
  {
    name: 'run',
    summary: 'run an agent behind a gateway of its own',
    arguments: '<command...>',
    load: async () => (await import('./gateway/gateway-command.js')).createRunCommand,
  },
  {
    name: 'worker',
    summary: 'write the summaries that a fleet asks for, from a queue',
    arguments: '',
    load: async () => (await import('./worker/worker-command.js')).createWorkerCommand,
  },
  {
    name: 'mcp',
    summary: 'serve what sessions took away to a model, over MCP',
    arguments: '',
    load: async () => (await import('./mcp/mcp-command.js')).createMcpCommand,
  },
];

/** Returns the command that the arguments name, as in `replay …` or `help replay`. */
export function namedCommand(args: readonly string[]): string | undefined {
  const [first, second] = args.filter((arg) => !arg.startsWith('-'));
  return first === 'help' ? second : first;
}
