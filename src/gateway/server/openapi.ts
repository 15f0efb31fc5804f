// The OpenAPI description of `POST /ctxfold/compact`, for clients in other languages.

const TOKENS = { type: 'integer', minimum: 0 };
const MESSAGES = { type: 'array', items: { type: 'object' } };

/** Returns the OpenAPI document of a gateway that reads bodies up to a limit. */
export const openApi = (maxBodyBytes: number): object => ({
  openapi: '3.1.0',
  info: {
    title: 'ctxfold gateway',
    version: '1',
    description: 'Compacts the messages of an agent, in the format of any provider.',
  },
  paths: {
    '/ctxfold/compact': {
      post: {
        operationId: 'compact',
        summary: 'Messages in, messages out. Nothing of them is kept.',
        requestBody: {
          required: true,
          content: {
            'application/json': { schema: { $ref: '#/components/schemas/CompactRequest' } },
          },
        },
        responses: {
          200: {
            description: 'The messages to be sent. With `error` they are as they came.',
            content: {
              'application/json': { schema: { $ref: '#/components/schemas/CompactAnswer' } },
            },
          },
          400: { description: 'Not such a body.' },
          413: { description: `A body of more than ${maxBodyBytes} bytes.` },
          415: { description: 'A body with a `content-encoding`.' },
          503: { description: 'It could not be read; the next one may be.' },
        },
      },
    },
  },
  components: {
    schemas: {
      CompactRequest: {
        type: 'object',
        anyOf: [
          { required: ['format', 'messages'] },
          { required: ['input'] },
          { required: ['contents'] },
        ],
        properties: {
          format: {
            enum: ['anthropic', 'responses', 'chat', 'gemini'],
            description: 'May be left out for a request that has `input` or `contents`.',
          },
          messages: {
            ...MESSAGES,
            description: 'All messages, in the order in which they are sent.',
          },
          input: { ...MESSAGES, description: 'The same in a request to the Responses API.' },
          contents: { ...MESSAGES, description: 'The same in a request to Gemini.' },
          model: { type: ['string', 'null'], description: 'Its context window is the limit.' },
          contextLimit: {
            ...{ type: ['integer', 'null'], minimum: 1 },
            description: 'Tokens that the model accepts.',
          },
        },
      },
      CompactAnswer: {
        type: 'object',
        required: ['format', 'messages', 'tokensBefore', 'tokensAfter'],
        properties: {
          format: { type: 'string' },
          messages: MESSAGES,
          tokensBefore: TOKENS,
          tokensAfter: TOKENS,
          error: { type: 'string', description: 'Why the messages are as they came.' },
        },
      },
    },
  },
});
