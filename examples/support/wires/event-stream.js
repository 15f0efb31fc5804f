// Server-sent events: how they are written, and how a text comes in pieces.

const PIECE_LENGTH = 24;

/** One event with a name, as Anthropic and OpenAI's Responses send them. */
export function namedEvent(data) {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** One event without a name. */
export function dataEvent(data) {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** A text in pieces, as a model would say it. An empty one has none. */
export function piecesOf(text) {
  const pieces = [];
  for (let at = 0; at < text.length; at += PIECE_LENGTH) {
    pieces.push(text.slice(at, at + PIECE_LENGTH));
  }
  return pieces;
}
