// A load balancer: sends each request to any of the servers, and to another one when that is gone. Knows no conversation.

import { createServer, request as send } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** Starts one; `ports()` tells where servers are now. */
export async function startBalancer(ports) {
  const pass = (body, to) =>
    new Promise((resolve, reject) => {
      const options = { port: to, host: '127.0.0.1', method: 'POST', agent: false };
      const asked = send(options, (answer) => {
        buffer(answer).then((text) => resolve({ status: answer.statusCode, text }), reject);
      });
      asked.on('error', reject);
      asked.end(body);
    });
  const balancer = createServer(async (request, response) => {
    const body = await buffer(request);
    for (let tries = 0; ; tries += 1) {
      const servers = ports();
      try {
        const { status, text } = await pass(
          body,
          servers[Math.floor(Math.random() * servers.length)],
        );
        return response.writeHead(status).end(text);
      } catch (error) {
        // It was killed in the middle: whoever has the messages can do it again.
        if (tries === 20) return response.writeHead(502).end(String(error));
      }
    }
  });
  await new Promise((resolve) => balancer.listen(0, '127.0.0.1', resolve));
  return { port: balancer.address().port, close: () => balancer.close() };
}
