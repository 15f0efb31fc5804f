// A load balancer: sends each request to any server, and retries with another one when that is down. Knows nothing of
// conversations.

import { createServer, request as send } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** Starts a balancer; `ports()` returns the current ports of the servers. */
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
        // The server was killed during the request. Any other server can repeat it, since the request has all messages.
        if (tries === 20) return response.writeHead(502).end(String(error));
      }
    }
  });
  await new Promise((resolve) => balancer.listen(0, '127.0.0.1', resolve));
  return { port: balancer.address().port, close: () => balancer.close() };
}
