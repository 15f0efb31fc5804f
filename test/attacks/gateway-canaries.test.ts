// A gateway sees keys and conversations. None of either may appear in its own output: page, state, events, logs, errors.

import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Logger } from '../../src/main/host/logger.js';
import { gatewayPage } from '../../src/cli/gateway/gateway-page.js';
import { API_TALKS, bodyOf, talk } from '../support/api-talks.js';
import { gatewayWorld } from '../support/gateway-world.js';
import type { GatewayWorld } from '../support/gateway-world.js';

const CANARY = 'CANARY';
let world: GatewayWorld;

/** Reads the events of a listening page up to a pattern. */
async function events(url: string, until: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/ctxfold/events`, (answer) => {
      let heard = '';
      answer.on('data', (chunk) => {
        heard += String(chunk);
        if (!until.test(heard)) return;
        asked.destroy();
        resolve(heard);
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}

describe('a gateway', () => {
  it.each(['observe', 'compact'] as const)(
    'says nothing of keys and content anywhere, in mode %s',
    // Every program on the machine could read a leak there, and it could end up in files.
    async (mode) => {
      const logged: unknown[] = [];
      const log = (...said: unknown[]): void => void logged.push(said);
      const logger: Logger = { debug: log, warn: log, error: log };
      world = await gatewayWorld({ mode, logger, page: gatewayPage });
      const usage = `{"text":"${CANARY}","usage":{"input_tokens":3,"output_tokens":4}}`;
      world.answer = ({ body }, response) => {
        response.writeHead(body.length % 3 === 0 ? 400 : 200, { 'x-answer': CANARY });
        response.end(usage);
      };
      const headers = {
        authorization: `Bearer ${CANARY}`,
        'x-api-key': CANARY,
        cookie: CANARY,
        'x-session-id': `${CANARY} of somebody`,
        'x-codex-turn-metadata': `{"request_kind":"turn","x":"${CANARY}"}`,
      };
      for (const api of API_TALKS) {
        const messages = [api.user(CANARY), ...talk(api, 15)].map(
          (message) => JSON.parse(JSON.stringify(message).replaceAll('line', CANARY)) as object,
        );
        for (let end = 3; end <= messages.length; end += 2) {
          const besides = {
            model: `${CANARY} ä`,
            metadata: { user_id: `${CANARY}@x` },
            [CANARY]: 1,
          };
          await world.send(api.path, {
            headers,
            body: bodyOf(api, messages.slice(0, end), besides),
          });
        }
        await world.send(api.path, {
          headers,
          body: `{"messages":[{"role":"tool","${CANARY}":1}],"tools":[1]}`,
        });
        await world.send(api.path, { headers, body: `{"messages":[${CANARY}]}` });
      }
      await world.send(`/v1/models?key=${CANARY}`, { method: 'GET', headers });
      const said = await Promise.all(
        ['/ctxfold', '/ctxfold/state', '/ctxfold/openapi.json', `/ctxfold/none`].map(async (path) =>
          (await world.send(path, { method: 'GET' })).body.toString(),
        ),
      );
      said.push(await events(world.gateway.url, /event: conversation(?:.|\n)*\n\n$/));
      expect(said[1]).toMatch(/"rule":/);
      expect(JSON.stringify([said, logged])).not.toContain(CANARY);
    },
  );

  it('shows an original to its own page, and to no other', async () => {
    world = await gatewayWorld();
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { host: 'evil.example' },
    ]) {
      const { status } = await world.send('/ctxfold/original?conversation=x&edit=0', {
        method: 'GET',
        headers,
      });
      expect([403, 421]).toContain(status);
      // Without this header, a form on another site could switch the mode.
      const { status: switched } = await world.send('/ctxfold/mode', {
        headers,
        body: '{"mode":"compact"}',
      });
      expect([403, 421]).toContain(switched);
    }
    expect(
      JSON.parse((await world.send('/ctxfold/state', { method: 'GET' })).body.toString()),
    ).toMatchObject({ mode: 'observe' });
  });
});
