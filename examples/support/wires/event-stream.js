// Server-sent events, and texts split into chunks.

const PIECE_LENGTH = 24;

/** An event with a name, as in Anthropic's API and OpenAI's Responses. */
export function namedEvent(data) {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** An event without a name. */
export function dataEvent(data) {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** Splits a text into chunks, as a model streams it; none for an empty text. */
export function piecesOf(text) {
  const pieces = [];
  for (let at = 0; at < text.length; at += PIECE_LENGTH) {
    pieces.push(text.slice(at, at + PIECE_LENGTH));
  }
  return pieces;
}
