// The commands by name: what the list of them shows, and where each is. Imports none of them, so that
// a command line loads the command that it names and no other.

import type { Command } from 'commander';

/** One command, before it is loaded. */
export interface CommandEntry {
  readonly name: string;
  /** Its line in the list of commands. */
  readonly summary: string;
  /** Its arguments as the list shows them, such as `<file>`; as the command itself has them. */
  readonly arguments: string;
  /** Resolves to what makes the command; `onExit` is told the exit code of a run that came to its end. */
  readonly load: () => Promise<(onExit: (code: number) => void) => Command>;
}

/** All commands, in the order of the list. */
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
    load: async () => (await import('./gateway/run-command.js')).createRunCommand,
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

/** Returns the name that asks for a command in what stands after `ctxfold`, be it to run it or for its help. */
export function namedCommand(args: readonly string[]): string | undefined {
  const [first, second] = args.filter((arg) => !arg.startsWith('-'));
  return first === 'help' ? second : first;
}
