// Grok CLI as a client of the host check, through the gateway.

import { join } from 'node:path';

import type { Client } from './client.js';

export const grok: Client = {
  name: 'grok',
  thinks: false,
  goesOn: false,
  plays: [
    { way: 'gateway', api: 'openai-chat', isLong: true },
    { way: 'none', api: 'openai-chat', isLong: true },
  ],
  tools: {
    read: (path) => ({ name: 'view_file', input: { path } }),
    edit: (path, old_str, new_str) => ({
      name: 'str_replace_editor',
      input: { path, old_str, new_str },
    }),
    run: (command) => ({ name: 'bash', input: { command } }),
  },
  configure() {
    // The command line sets everything.
  },
  run({ installed, node, url }, prompt) {
    const cli = join(installed, 'node_modules/.bin/grok');
    return {
      command: node,
      args: [cli, '-k', 'made-up', '-u', `${url}/v1`, '-m', 'grok-code-fast-1', '-p', prompt],
    };
  },
};
