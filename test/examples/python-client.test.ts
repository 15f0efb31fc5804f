// The Python client with a gateway; skipped without Python.

import { spawn, spawnSync } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_TALKS, talk } from '../support/api-talks.js';
import { gatewayWorld } from '../support/gateway-world.js';
import type { GatewayWorld } from '../support/gateway-world.js';

const hasPython = spawnSync('python3', ['--version']).status === 0;
let world: GatewayWorld;

async function python(
  gateway: string,
  messages: readonly object[],
  format: string,
): Promise<readonly object[]> {
  const child = spawn('python3', ['examples/python/compact.py', format, 'gpt-5.5'], {
    env: { ...process.env, CTXFOLD_GATEWAY: gateway },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(messages));
  return JSON.parse(await text(child.stdout)) as readonly object[];
}

describe.skipIf(!hasPython)(
  `examples/python/compact.py${hasPython ? '' : ': there is no python3'}`,
  () => {
    let close: () => Promise<void>;
    beforeAll(async () => {
      world = await gatewayWorld({}, (closing) => (close = closing));
    });

    afterAll(() => close());

    it.each(API_TALKS)('compacts messages for $name', async (api) => {
      const messages = talk(api, 20);
      const compacted = await python(world.gateway.url, messages, api.name);
      expect(JSON.stringify(compacted).length).toBeLessThan(JSON.stringify(messages).length * 0.7);
      expect(compacted[0]).toEqual(messages[0]);
    });

    it('returns messages unchanged if there is no gateway', async () => {
      const [api] = API_TALKS;
      const messages = talk(api!, 3);
      expect(await python('http://127.0.0.1:1', messages, api!.name)).toEqual(messages);
    });
  },
);
