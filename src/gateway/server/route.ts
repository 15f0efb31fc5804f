// Where a request goes: to which of the upstreams that are allowed, by which path, and which API it speaks.

import type { IncomingHttpHeaders } from 'node:http';
import { apiOfPath } from '../engine/apis.js';
import type { Api } from '../engine/apis.js';

/** The way of a request. */
export interface Route {
  readonly upstreamName: string;
  readonly upstream: URL;
  /** With the query, as it is sent. */
  readonly path: string;
  /** The API that it carries a history for. */
  readonly api: Api | undefined;
  /** The model, where the path names it. */
  readonly model: string | undefined;
}

const GEMINI_PATH =
  /^\/(?:upload\/)?v1(?:beta|alpha|internal)\b|:(?:streamG|g)enerateContent$|:countTokens$/;
const ANTHROPIC_PATH = /^\/v1\/(?:messages|complete)\b/;
const VERSION = /\/v1[a-z]*$/;

/** Returns the way of a request; `undefined` for what is no path that may be asked for. */
export function routeOf(
  method: string,
  target: string,
  headers: IncomingHttpHeaders,
  upstreams: Readonly<Record<string, string>>,
): Route | undefined {
  if (!target.startsWith('/') || hasDotSegment(target)) return undefined;
  const [, first = ''] = target.split(/[/?]/, 2);
  const isNamed = Object.hasOwn(upstreams, first);
  const rest = isNamed ? target.slice(first.length + 1) : target;
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  const plain = path.split('?', 1)[0] ?? path;
  const upstreamName = isNamed ? first : upstreamOf(plain, headers);
  const url = upstreams[upstreamName];
  if (url === undefined) return undefined;
  const upstream = new URL(url);
  return {
    upstreamName,
    upstream,
    path: joinPaths(upstream.pathname, path),
    api: method === 'POST' ? apiOfPath(plain) : undefined,
    model: /\/models\/([\w.-]+):/.exec(plain)?.[1],
  };
}

function upstreamOf(path: string, headers: IncomingHttpHeaders): string {
  if (GEMINI_PATH.test(path)) return 'gemini';
  const isAnthropic =
    headers['anthropic-version'] !== undefined || headers['x-api-key'] !== undefined;
  return isAnthropic || ANTHROPIC_PATH.test(path) ? 'anthropic' : 'openai';
}

/** Base URLs are written with the version and without, on either side. */
function joinPaths(base: string, path: string): string {
  const root = base.replace(/\/+$/, '');
  const version = VERSION.exec(root)?.[0];
  const isTwice = version !== undefined && path.startsWith(`${version}/`);
  return root + (isTwice ? path.slice(version.length) : path);
}

function hasDotSegment(target: string): boolean {
  const [path = ''] = target.split('?', 1);
  return path.split(/\/|\\|%2f|%5c/i).some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}
