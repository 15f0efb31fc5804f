// Agents on the official Python SDKs, through the gateway.

import { join, resolve } from 'node:path';

import type { Client } from './client.js';

export const python: Client = {
  name: 'python',
  thinks: true,
  goesOn: true,
  plays: [
    { way: 'gateway', api: 'openai-responses', isLong: true },
    { way: 'none', api: 'openai-responses', isLong: true },
    { way: 'gateway', api: 'gemini', isLong: true },
    { way: 'gateway', api: 'anthropic', isLong: true, window: 40_000 },
    { way: 'gateway', api: 'openai-chat' },
  ],
  tools: {
    read: (path) => ({ name: 'read_file', input: { path } }),
    edit: (path, old_text, new_text) => ({
      name: 'edit_file',
      input: { path, old_text, new_text },
    }),
    run: (command) => ({ name: 'run_command', input: { command } }),
  },
  configure() {
    // Only the provider's address is configured.
  },
  run({ installed, home, url, api }, prompt) {
    return {
      command: join(installed, 'bin/python'),
      args: [resolve('test/hosts/agent.py'), api, join(home, 'history'), prompt],
      env: { MODEL_URL: url },
    };
  },
};
