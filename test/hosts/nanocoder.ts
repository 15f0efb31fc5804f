// Nanocoder as a client of the host check, through the gateway.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Client } from './client.js';

export const nanocoder: Client = {
  name: 'nanocoder',
  thinks: false,
  goesOn: false,
  plays: [
    { way: 'gateway', api: 'openai-chat', isLong: true },
    { way: 'none', api: 'openai-chat', isLong: true },
  ],
  tools: {
    read: (path) => ({ name: 'read_file', input: { path } }),
    edit: (path, old_str, new_str) => ({
      name: 'string_replace',
      input: { path, old_str, new_str },
    }),
    run: (command) => ({ name: 'execute_bash', input: { command } }),
  },
  configure({ home, url }) {
    mkdirSync(join(home, '.config/nanocoder'), { recursive: true });
    const loopback = {
      name: 'loopback',
      baseUrl: `${url}/v1`,
      apiKey: 'made-up',
      models: ['scripted'],
    };
    writeFileSync(
      join(home, '.config/nanocoder/agents.config.json'),
      JSON.stringify({ nanocoder: { providers: [loopback] } }),
    );
  },
  run({ installed, node }, prompt) {
    const cli = join(installed, 'node_modules/.bin/nanocoder');
    return {
      command: node,
      env: { NANOCODER_TRUST_DIRECTORY: '1' },
      args: [cli, '--provider', 'loopback', '--model', 'scripted', '--mode', 'yolo', 'run', prompt],
    };
  },
};
