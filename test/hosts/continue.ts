// Continue's command line as a client of the host check, through the gateway.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Client } from './client.js';

export const continueCli: Client = {
  name: 'continue',
  thinks: false,
  goesOn: true,
  takesWholePaths: true,
  plays: [
    { way: 'gateway', api: 'anthropic', isLong: true },
    { way: 'none', api: 'anthropic', isLong: true },
    { way: 'gateway', api: 'openai-chat' },
  ],
  tools: {
    read: (filepath) => ({ name: 'Read', input: { filepath } }),
    edit: (file_path, old_string, new_string) => ({
      name: 'MultiEdit',
      input: { file_path, edits: [{ old_string, new_string }] },
    }),
    run: (command) => ({ name: 'Bash', input: { command } }),
  },
  configure({ home, url, api }) {
    mkdirSync(join(home, '.continue'));
    const [provider, model] =
      api === 'anthropic' ? ['anthropic', 'claude-sonnet-4-5'] : ['openai', 'gpt-4.1'];
    writeFileSync(
      join(home, '.continue/config.yaml'),
      `name: check
version: 1.0.0
schema: v1
models:
  - name: scripted
    provider: ${provider}
    model: ${model}
    apiKey: made-up
    apiBase: ${url}/v1/
    roles: [chat]
`,
    );
  },
  run({ installed, node, home }, prompt, goesOn) {
    const cli = join(installed, 'node_modules/.bin/cn');
    const options = ['--auto', '--config', join(home, '.continue/config.yaml')];
    return {
      command: node,
      args: [cli, '-p', prompt, ...options, ...(goesOn ? ['--resume'] : [])],
    };
  },
};
