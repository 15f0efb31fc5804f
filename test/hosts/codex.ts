// Codex as a client of the host check. None of its hooks sees the history, so it goes through the gateway only.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Client } from './client.js';

/** Small enough to fill and trigger summaries. */
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
    // With its built-in provider it tries a WebSocket first, and the gateway must make it fall back to HTTP. Not with a
    // small window, where it would use the provider's compaction, which the scripted one lacks.
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
