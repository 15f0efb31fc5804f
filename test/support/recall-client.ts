// A server of `recall` and `list_removed`, with a connected client of the official SDK.

import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { expect, onTestFinished } from 'vitest';
import type { RecallSource } from '../../src/cli/mcp/recall-choice.js';
import { createRecallServer } from '../../src/cli/mcp/recall-server.js';

/** A tool's answer. */
export interface RecallAnswer {
  readonly text: string;
  readonly isError: boolean;
}

/** The tools as a client calls them. */
export interface ServedRecall {
  readonly client: Client;
  readonly recall: (id: string) => Promise<RecallAnswer>;
  readonly list: (given?: { limit?: number; cursor?: string }) => Promise<RecallAnswer>;
}

/** Serves until the test ends. */
export async function serveRecall(source: RecallSource): Promise<ServedRecall> {
  const server = createRecallServer(source, '1.2.3');
  const client = new Client({ name: 'test', version: '1.0.0' });
  const [ofClient, ofServer] = InMemoryTransport.createLinkedPair();
  await server.connect(ofServer);
  await client.connect(ofClient);
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  const call = async (name: string, given: Record<string, unknown>): Promise<RecallAnswer> => {
    const { content, isError } = await client.callTool({ name, arguments: given });
    const [block] = content;
    expect([content.length, block?.type]).toEqual([1, 'text']);
    return { text: block?.type === 'text' ? block.text : '', isError: isError === true };
  };
  return {
    client,
    recall: (id) => call('recall', { id }),
    list: (given = {}) => call('list_removed', given),
  };
}
