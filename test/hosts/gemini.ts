// Gemini CLI as a client of the host check. Its hooks only see texts, so it goes through the gateway.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Client } from './client.js';

export const gemini: Client = {
  name: 'gemini',
  thinks: false,
  // When 0.61 resumes a session, it sends each result twice, which its API refuses with and without ctxfold. So there is
  // only one user turn, and it summarizes only what comes before the last one.
  goesOn: false,
  plays: [
    { way: 'gateway', api: 'gemini', isLong: true },
    { way: 'none', api: 'gemini', isLong: true },
  ],
  tools: {
    read: (file_path) => ({ name: 'read_file', input: { file_path } }),
    edit: (file_path, old_string, new_string) => ({
      name: 'replace',
      input: { file_path, old_string, new_string, instruction: 'Set the limit.' },
    }),
    run: (command) => ({
      name: 'run_shell_command',
      input: { command, description: 'Looks further.' },
    }),
  },
  configure({ home }) {
    const folder = join(home, '.gemini');
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, 'settings.json'),
      JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        // Loop detection would ask a model for JSON, which is beside the point here.
        model: { disableLoopDetection: true },
        general: { disableAutoUpdate: true, disableUpdateNag: true },
      }),
    );
  },
  run({ installed, node, url }, prompt) {
    const cli = join(installed, 'node_modules/@google/gemini-cli/bundle/gemini.js');
    return {
      command: node,
      args: [cli, '-p', prompt, '--approval-mode', 'yolo', '-m', 'gemini-2.5-flash'],
      env: {
        GEMINI_API_KEY: 'made-up',
        GOOGLE_GEMINI_BASE_URL: url,
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
      },
    };
  },
};
