// The command `run`: its options and help. What it does is loaded when it runs.

import { Command } from 'commander';
import { addGatewayOptions, readGatewayOptions } from './gateway-command.js';
import type { GatewayArguments } from './gateway-command.js';

const EXAMPLES_HELP = `
Examples:
  ctxfold run -- claude
  ctxfold run --mode compact -- gemini -p "fix the tests"

The command gets ANTHROPIC_BASE_URL, OPENAI_BASE_URL, OPENAI_API_BASE, GOOGLE_GEMINI_BASE_URL and CODE_ASSIST_ENDPOINT. Where
one of them is set already, that is where the gateway sends to. Its exit code becomes that of ctxfold.`;

/** Makes the command. It ends with the command that it runs. */
export function createRunCommand(onExit: (code: number) => void): Command {
  const command = new Command('run').description(
    'Starts a gateway on a port of its own, runs a command with the variables by which agents find their ' +
      'provider, and ends with it. Passes signals on.',
  );
  return addGatewayOptions(command, 0)
    .argument('<command...>', 'the agent with its arguments, behind --')
    .addHelpText('after', EXAMPLES_HELP)
    .action(async (words: readonly string[], given: GatewayArguments, own: Command) => {
      const { runBehindGateway } = await import('./behind-gateway.js');
      onExit(await runBehindGateway(words, readGatewayOptions(given, own)));
    });
}
