// Determines the upstream, the path and the API of a request.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { modelInPath } from '../../main/models/model-name.js';
import { apiOfPath } from '../engine/apis.js';
import type { Api } from '../engine/apis.js';

/** The destination of a request. */
export interface Route {
  readonly upstreamName: string;
  readonly upstream: URL;
  /** The path at the upstream, with the query. */
  readonly path: string;
  /** The API whose history the request contains. */
  readonly api: Api | undefined;
  /** Whether the request only counts the tokens of that history, or has the provider compact it. */
  readonly isSideRequest: boolean;
  /** The model, if it is in the path. */
  readonly model: string | undefined;
}

const GEMINI_PATH =
  /^\/(?:upload\/)?v1(?:beta|alpha|internal)\b|:(?:streamG|g)enerateContent$|:countTokens$/;
const ANTHROPIC_PATH = /^\/v1\/(?:messages|complete)\b/;
/** Paths of clouds without a default URL. If that upstream is not configured, the requests, and their keys, must reach no other one. */
const CLOUD_PATHS = [
  ['azure', /^\/openai\/deployments\//],
  ['bedrock', /^\/model\/[^/]+\/(?:invoke|converse)/],
  ['vertex', /^(?:\/v1\w*)?\/projects\/[^/]+\/locations\//],
] as const;
/** A path of Azure without a deployment, unless the upstream `openai` is another service that takes an `api-version`. */
const AZURE_OR_OPENAI = /^\/openai\/.*[?&]api-version=/;
const OPENAI = 'https://api.openai.com/';
const VERSION = /\/v1[a-z]*$/;
const OWN_VERSION = /^\/v1\w*\//;
/** Paths of the AI SDK, and so of OpenCode: they expect the version in the base URL, while Anthropic's own SDK adds it to the path. */
const ANTHROPIC_PATH_WITHOUT_VERSION = /^\/(?:messages|files|models|skills)\b/;

/** Returns the route of a request; `undefined` if its path is invalid or has no upstream. */
export function routeOf(
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  given: string,
  upstreams: Readonly<Record<string, string>>,
): Route | undefined {
  if (!given.startsWith('/') || hasDotSegment(given)) return undefined;
  const target = withOneSlash(given);
  const isOfAzure = 'azure' in upstreams || upstreams['openai']?.startsWith(OPENAI) === true;
  const cloud =
    isOfAzure && AZURE_OR_OPENAI.test(target)
      ? 'azure'
      : CLOUD_PATHS.find(([, path]) => path.test(target))?.[0];
  const [, first = ''] = target.split(/[/?]/, 2);
  const isNamed = cloud === undefined && Object.hasOwn(upstreams, first);
  const rest = isNamed ? target.slice(first.length + 1) : target;
  const path = withOneSlash(rest);
  const plain = path.split('?', 1)[0] ?? path;
  const upstreamName = cloud ?? (isNamed ? first : upstreamOf(plain, headers));
  const url = upstreams[upstreamName];
  if (url === undefined) return undefined;
  const upstream = new URL(url);
  const api = method === 'POST' ? apiOfPath(plain) : undefined;
  return {
    upstreamName,
    upstream,
    path: joinPaths(upstream.pathname, path, upstreamName === 'anthropic'),
    api,
    isSideRequest: api?.sideRequests?.test(plain) === true,
    model: modelInPath(plain),
  };
}

/** A base URL that ends with a slash leads to paths that start with two. */
function withOneSlash(path: string): string {
  return path.replace(/^\/*/, '/');
}

function upstreamOf(path: string, headers: IncomingHttpHeaders): string {
  const has = (name: string): boolean => headers[name] !== undefined;
  if (GEMINI_PATH.test(path) || has('x-goog-api-key')) return 'gemini';
  const isAnthropic = has('anthropic-version') || has('x-api-key');
  return isAnthropic || ANTHROPIC_PATH.test(path) ? 'anthropic' : 'openai';
}

/** Joins a base path and a request path without repeating the version or the base path, which one, both or neither may contain. */
function joinPaths(base: string, path: string, isAnthropic: boolean): string {
  const root = base.replace(/\/+$/, '');
  if (isAnthropic && root === '' && ANTHROPIC_PATH_WITHOUT_VERSION.test(path)) return `/v1${path}`;
  if (path.startsWith(`${root}/`)) return path;
  return (OWN_VERSION.test(path) ? root.replace(VERSION, '') : root) + path;
}

function hasDotSegment(target: string): boolean {
  const [path = ''] = target.split('?', 1);
  return path.split(/\/|\\|%2f|%5c/i).some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}
