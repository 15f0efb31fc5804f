// The error format of all OpenAI APIs.

const ERROR_TYPES = {
  400: 'invalid_request_error',
  401: 'invalid_request_error',
  429: 'rate_limit_exceeded',
};

/** Makes the body of a refusal; its `param` is the list that the message is about. */
export function openaiRefusal(status, message, list) {
  const type = ERROR_TYPES[status] ?? 'server_error';
  return { error: { message, type, param: status === 400 ? list : null, code: null } };
}
