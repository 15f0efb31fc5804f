// Codex, as a client in the check of hosts. No hook of it sees the history: it plays through the gateway alone.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Client } from './client.js';

/** It fills this one, and summarizes. */
const SMALL_WINDOW = 40_000;

export const codex: Client = {
  name: 'codex',
  thinks: true,
  goesOn: true,
  plays: [
    { way: 'gateway', api: 'openai-responses', isLong: true },
    { way: 'none', api: 'openai-responses', isLong: true },
    {
      way: 'gateway',
      api: 'openai-responses',
      isLong: true,
      window: SMALL_WINDOW,
      ownCompaction: 'once or more',
    },
  ],
  tools: {
    read: (file) => ({ name: 'exec_command', input: { cmd: `cat ${file}` } }),
    edit: (file, before, after) => ({
      name: 'exec_command',
      input: { cmd: `sed -i 's/${before}/${after}/' ${file}` },
    }),
    run: (cmd) => ({ name: 'exec_command', input: { cmd } }),
  },
  configure({ home, url, way, contextWindow }) {
    const folder = join(home, '.codex');
    mkdirSync(folder, { recursive: true });
    const lines = ['model = "scripted"', `model_context_window = ${contextWindow}`];
    // Its own provider, which it asks for a WebSocket first: the gateway has to have it go on over HTTP. There it would have
    // the provider compact, which the scripted one does not do.
    if (way === 'gateway' && contextWindow > SMALL_WINDOW) {
      lines.push(`openai_base_url = "${url}/v1"`, '[analytics]', 'enabled = false');
      writeFileSync(join(folder, 'auth.json'), JSON.stringify({ OPENAI_API_KEY: 'made-up' }));
    } else {
      lines.push(
        'model_provider = "loopback"',
        '[analytics]',
        'enabled = false',
        '[model_providers.loopback]',
        'name = "loopback"',
        `base_url = "${url}/v1"`,
        'env_key = "MADE_UP_KEY"',
        'wire_api = "responses"',
      );
    }
    writeFileSync(join(folder, 'config.toml'), `${lines.join('\n')}\n`);
  },
  run({ installed }, prompt, goesOn) {
    const options = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
    return {
      command: join(installed, 'node_modules/.bin/codex'),
      args: ['exec', ...options, ...(goesOn ? ['resume', '--last'] : []), prompt],
      env: { MADE_UP_KEY: 'made-up' },
    };
  },
};
