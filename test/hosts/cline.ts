// Cline as a client of the host check, through the gateway.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import type { Client } from './client.js';

export const cline: Client = {
  name: 'cline',
  thinks: false,
  goesOn: false,
  takesWholePaths: true,
  plays: [
    { way: 'gateway', api: 'openai-chat', isLong: true },
    { way: 'none', api: 'openai-chat', isLong: true },
  ],
  tools: {
    read: (path) => ({ name: 'read_files', input: { files: [{ path }] } }),
    edit: (path, before, after) => ({
      name: 'apply_patch',
      input: {
        input: `*** Begin Patch\n*** Update File: ${path}\n@@\n-${before}\n+${after}\n*** End Patch`,
      },
    }),
    run: (command) => ({ name: 'run_commands', input: { commands: [command] } }),
  },
  configure({ installed, url, home }) {
    const options = ['-p', 'openai-compatible', '-k', 'made-up', '-m', 'gpt-5', '-b', `${url}/v1`];
    spawnSync(join(installed, 'node_modules/.bin/cline'), ['auth', ...options], {
      env: { PATH: process.env['PATH'], HOME: home },
    });
  },
  run({ installed }, prompt) {
    const command = join(installed, 'node_modules/.bin/cline');
    // Otherwise it would leave a daemon behind.
    const env = { CLINE_SESSION_BACKEND_MODE: 'local' };
    return { command, args: ['-P', 'openai-compatible', prompt], env };
  },
};
