// pi as a client of the host check.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { ProviderApi } from '../../examples/support/scripted-provider.js';
import type { Client } from './client.js';

/** pi's names of the APIs, and the path of their base URLs. */
const APIS: Readonly<Record<ProviderApi, readonly [api: string, path: string]>> = {
  'openai-chat': ['openai-completions', '/v1'],
  'openai-responses': ['openai-responses', '/v1'],
  anthropic: ['anthropic-messages', ''],
  gemini: ['google-generative-ai', '/v1beta'],
};

export const pi: Client = {
  name: 'pi',
  thinks: true,
  goesOn: true,
  plays: [
    { way: 'plugin', api: 'openai-chat', isLong: true },
    { way: 'none', api: 'openai-chat', isLong: true },
    {
      way: 'gateway',
      api: 'anthropic',
      isLong: true,
      window: 40_000,
      ownCompaction: 'once or more',
    },
    { way: 'plugin', api: 'openai-responses', isLong: true, window: 40_000 },
    { way: 'plugin', api: 'anthropic', isLong: true, ownCompaction: 'after a refusal' },
    { way: 'gateway', api: 'openai-chat', isLong: true },
    { way: 'plugin', api: 'gemini' },
    {
      way: 'none',
      api: 'openai-responses',
      isLong: true,
      window: 40_000,
      ownCompaction: 'once or more',
    },
  ],
  tools: {
    read: (path) => ({ name: 'read', input: { path } }),
    edit: (path, oldText, newText) => ({
      name: 'edit',
      input: { path, edits: [{ oldText, newText }] },
    }),
    run: (command) => ({ name: 'bash', input: { command } }),
  },
  configure({ home, url, api: name, contextWindow, plugin }) {
    const folder = join(home, '.pi/agent');
    mkdirSync(folder, { recursive: true });
    const [api, path] = APIS[name];
    const model = { id: 'scripted', contextWindow, maxTokens: 8_000, reasoning: true };
    const provider = { baseUrl: `${url}${path}`, apiKey: 'made-up', api, models: [model] };
    writeFileSync(
      join(folder, 'models.json'),
      JSON.stringify({ providers: { loopback: provider } }),
    );
    const packages = plugin === undefined ? [] : [plugin];
    // By default pi keeps more than a compacted session contains, and has nothing to summarize after a refusal.
    const compaction = plugin === undefined ? {} : { keepRecentTokens: 8_000 };
    writeFileSync(join(folder, 'settings.json'), JSON.stringify({ packages, compaction }));
  },
  run({ installed, node }, prompt, goesOn) {
    const cli = join(installed, 'node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js');
    const goOn = goesOn ? ['--continue'] : [];
    return {
      command: node,
      args: [cli, '-p', '--model', 'loopback/scripted', '--thinking', 'low', ...goOn, prompt],
      env: { PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1' },
    };
  },
};
