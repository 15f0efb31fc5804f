// Reads the tool call that OpenHands and SWE-agent have models write at the end of their text when
// the provider has no tool calls: `<function=name><parameter=key>value</parameter></function>`.

import type { ContentBlock } from '../../shared/content.js';

/**
 * The blocks of such a text: what stands before the call, and the call. Undefined when the text does
 * not end in exactly one call, which the agents refuse too.
 */
export function readXmlFunctionCall(text: string): readonly ContentBlock[] | undefined {
  const start = text.indexOf('<function=');
  const nameEnd = text.indexOf('>', start);
  const end = text.trimEnd();
  if (start === -1 || nameEnd === -1 || !end.endsWith('</function>')) return undefined;
  const name = text.slice(start + '<function='.length, nameEnd).trim();
  const body = end.slice(nameEnd + 1, -'</function>'.length);
  if (!/^[\w.-]+$/.test(name) || hasSecondCall(body)) return undefined;
  return [
    { type: 'text', text: text.slice(0, start).trimEnd() },
    { type: 'tool_call', id: '', name, parameters: readParameters(body) },
  ];
}

/** A value may hold the markers as text, but what follows a closed call is a second one. */
function hasSecondCall(body: string): boolean {
  return /<\/function>\s*<function=/.test(body);
}

function readParameters(body: string): Readonly<Record<string, string>> {
  const parameters: [string, string][] = [];
  let at = 0;
  for (;;) {
    const start = body.indexOf('<parameter=', at);
    const nameEnd = start === -1 ? -1 : body.indexOf('>', start);
    if (nameEnd === -1) break;
    const close = body.indexOf('</parameter>', nameEnd);
    const end = close === -1 ? body.length : close;
    const key = body.slice(start + '<parameter='.length, nameEnd).trim();
    // Values of several lines stand on lines of their own.
    parameters.push([key, body.slice(nameEnd + 1, end).replace(/^\r?\n|\r?\n$/g, '')]);
    at = end + 1;
  }
  return Object.fromEntries(parameters);
}
