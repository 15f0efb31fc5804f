// OpenClaw as a client of the host check.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { ProviderApi } from '../../examples/support/scripted-provider.js';
import type { Client } from './client.js';

/** OpenClaw's names of the APIs, and the path of their base URLs. */
const APIS: Readonly<Record<ProviderApi, readonly [api: string, path: string]>> = {
  'openai-chat': ['openai-completions', '/v1'],
  'openai-responses': ['openai-responses', '/v1'],
  anthropic: ['anthropic-messages', ''],
  gemini: ['google-generative-ai', '/v1beta'],
};

export const openclaw: Client = {
  name: 'openclaw',
  thinks: false,
  goesOn: true,
  plays: [
    { way: 'plugin', api: 'openai-chat', isLong: true },
    { way: 'gateway', api: 'openai-chat', isLong: true },
    { way: 'none', api: 'openai-chat', isLong: true },
    { way: 'plugin', api: 'anthropic', isLong: true, ownCompaction: 'after a refusal' },
  ],
  tools: {
    read: (path) => ({ name: 'read', input: { path } }),
    edit: (path, oldText, newText) => ({
      name: 'edit',
      input: { path, edits: [{ oldText, newText }] },
    }),
    run: (command) => ({ name: 'exec', input: { command } }),
  },
  configure({ home, workspace, url, api: name, contextWindow, plugin }) {
    const folder = join(home, '.openclaw');
    mkdirSync(folder, { recursive: true });
    const [api, path] = APIS[name];
    const model = { id: 'scripted', name: 'scripted', contextWindow, maxTokens: 8_000 };
    const provider = { baseUrl: `${url}${path}`, apiKey: 'made-up', api, models: [model] };
    const plugins = {
      load: { paths: [plugin] },
      slots: { contextEngine: 'ctxfold' },
      entries: { ctxfold: { enabled: true } },
    };
    writeFileSync(
      join(folder, 'openclaw.json'),
      JSON.stringify({
        gateway: { mode: 'local' },
        models: { providers: { loopback: provider } },
        agents: {
          defaults: { workspace, skipBootstrap: true, model: { primary: 'loopback/scripted' } },
        },
        tools: { exec: { host: 'gateway', security: 'full', ask: 'off' } },
        ...(plugin !== undefined && { plugins }),
      }),
    );
  },
  run({ installed, node, home }, prompt) {
    const cli = join(installed, 'node_modules/openclaw/openclaw.mjs');
    const agent = ['agent', '--local', '--agent', 'main', '--session-id', 'chore'];
    return {
      command: node,
      args: [cli, ...agent, '--message', prompt],
      env: { OPENCLAW_STATE_DIR: join(home, '.openclaw') },
    };
  },
};
