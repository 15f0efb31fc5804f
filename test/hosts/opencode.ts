// OpenCode, as a client in the check of hosts.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { ProviderApi } from '../../examples/support/scripted-provider.js';
import type { Client } from './client.js';

/** The provider of each API: its id, the package that OpenCode brings along, and the path that its base URL ends with. */
const PROVIDERS: Readonly<Record<ProviderApi, readonly [id: string, npm: string, path: string]>> = {
  'openai-chat': ['loopback', '@ai-sdk/openai-compatible', '/v1'],
  'openai-responses': ['openai', '@ai-sdk/openai', '/v1'],
  anthropic: ['anthropic', '@ai-sdk/anthropic', '/v1'],
  gemini: ['google', '@ai-sdk/google', '/v1beta'],
};

export const opencode: Client = {
  name: 'opencode',
  thinks: false,
  goesOn: true,
  failsAfterRefusal: true,
  plays: [
    { way: 'plugin', api: 'openai-chat', isLong: true },
    { way: 'none', api: 'openai-chat', isLong: true },
    {
      way: 'gateway',
      api: 'openai-chat',
      isLong: true,
      window: 40_000,
      ownCompaction: 'once or more',
    },
    { way: 'plugin', api: 'anthropic', ownCompaction: 'after a refusal' },
    { way: 'plugin', api: 'openai-chat', isLong: true, window: 40_000 },
    { way: 'plugin', api: 'openai-responses' },
    {
      way: 'none',
      api: 'openai-chat',
      isLong: true,
      window: 40_000,
      ownCompaction: 'once or more',
    },
    { way: 'plugin', api: 'gemini' },
  ],
  tools: {
    read: (filePath) => ({ name: 'read', input: { filePath } }),
    edit: (filePath, oldString, newString) => ({
      name: 'edit',
      input: { filePath, oldString, newString },
    }),
    run: (command) => ({ name: 'bash', input: { command, description: 'Looks further' } }),
  },
  configure({ home, url, api, contextWindow, plugin }) {
    const folder = join(home, '.config/opencode');
    mkdirSync(folder, { recursive: true });
    // It wants a package of its own from the registry, and would wait for it at each start: it looks for no more than this.
    mkdirSync(join(folder, 'node_modules'));
    const dependencies = { '@opencode-ai/plugin': '*' };
    const lock = { lockfileVersion: 3, packages: { '': { dependencies } } };
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
    const [id, npm, path] = PROVIDERS[api];
    const limit = { context: contextWindow, output: 8_000 };
    const models = { scripted: { name: 'scripted', tool_call: true, limit } };
    const options = { baseURL: `${url}${path}`, apiKey: 'made-up' };
    writeFileSync(
      join(folder, 'opencode.json'),
      JSON.stringify({
        provider: { [id]: { npm, name: id, options, models } },
        model: `${id}/scripted`,
        small_model: `${id}/scripted`,
        permission: { '*': 'allow' },
        autoupdate: false,
        share: 'disabled',
        snapshot: false,
        lsp: false,
        formatter: false,
        plugin: plugin === undefined ? [] : [`file://${plugin}`],
      }),
    );
  },
  run({ installed }, prompt, goesOn) {
    const packageName = `opencode-${process.platform}-${process.arch}`;
    return {
      command: join(installed, 'node_modules', packageName, 'bin/opencode'),
      args: ['run', ...(goesOn ? ['--continue'] : []), prompt],
      env: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
    };
  },
};
