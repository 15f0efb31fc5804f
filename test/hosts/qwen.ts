// Qwen Code as a client of the host check, through the gateway.

import { join } from 'node:path';

import type { Client } from './client.js';

export const qwen: Client = {
  name: 'qwen',
  thinks: false,
  goesOn: true,
  takesWholePaths: true,
  plays: [
    { way: 'gateway', api: 'openai-chat', isLong: true },
    { way: 'none', api: 'openai-chat', isLong: true },
  ],
  tools: {
    read: (file_path) => ({ name: 'read_file', input: { file_path } }),
    edit: (file_path, old_string, new_string) => ({
      name: 'edit',
      input: { file_path, old_string, new_string },
    }),
    run: (command) => ({
      name: 'run_shell_command',
      input: { command, description: 'Looks further.', is_background: false },
    }),
  },
  configure() {
    // The provider is set in the environment.
  },
  run({ installed, node, url }, prompt, goesOn) {
    const cli = join(installed, 'node_modules/.bin/qwen');
    const options = ['--yolo', '--auth-type', 'openai', ...(goesOn ? ['--continue'] : [])];
    return {
      command: node,
      args: [cli, '-p', prompt, ...options],
      env: {
        OPENAI_API_KEY: 'made-up',
        OPENAI_BASE_URL: `${url}/v1`,
        OPENAI_MODEL: 'qwen3-coder-plus',
      },
    };
  },
};
