// Creates messages with the classes of other messages: copies with changed fields, and new messages. So they work with whichever
// version of LangChain the application has loaded.

import { isRecord } from '../../shared/json.js';
import type { BaseMessage } from '@langchain/core/messages';
import { typeOf } from './message-fields.js';

/** The name under which LangChain serializes a message. */
export type MessageClassName = 'HumanMessage' | 'AIMessage';

type MessageConstructor = new (fields: { content: string }) => BaseMessage;

const KINDS: Readonly<Record<MessageClassName, string>> = {
  HumanMessage: 'human',
  AIMessage: 'ai',
};

/**
 * Returns a copy of a message, of the same class, with changed fields. Its serialization (`lc_kwargs`) has the changes, too. All other
 * fields, such as the id, are the same.
 */
export function copyWith<M extends BaseMessage>(
  message: M,
  changes: Readonly<Record<string, unknown>>,
): M {
  const descriptors = Object.getOwnPropertyDescriptors(message) as PropertyDescriptorMap;
  const kwargs = { ...message.lc_kwargs, ...changes };
  // Some versions also keep the content under a second name.
  if ('content' in changes && kwargs['contentBlocks'] !== undefined) {
    kwargs['contentBlocks'] = changes['content'];
  }
  for (const [key, value] of Object.entries({ ...changes, lc_kwargs: kwargs })) {
    descriptors[key] = { value, writable: true, enumerable: true, configurable: true };
  }
  return Object.create(Object.getPrototypeOf(message) as object, descriptors) as M;
}

/**
 * Creates a message with a text. Its class is that of a message of the same type in `among`, or else a new class derived from
 * their base class.
 *
 * @throws TypeError if `among` has no message
 */
export function makeMessage(
  name: MessageClassName,
  content: string,
  among: readonly BaseMessage[],
): BaseMessage {
  const kind = KINDS[name];
  const example = among.find(
    (message) => typeOf(message) === kind && serializedName(message.constructor) === name,
  );
  if (example !== undefined) return new (example.constructor as MessageConstructor)({ content });
  for (const message of among) {
    const Base = baseOf(message);
    if (Base !== undefined) return new (derive(Base, name))({ content });
  }
  throw new TypeError(`Expected a message of LangChain to make a ${name} like it, got none.`);
}

function serializedName(constructor: unknown): unknown {
  if (typeof constructor !== 'function' || !('lc_name' in constructor)) return undefined;
  const { lc_name: method } = constructor;
  return typeof method === 'function' ? (method.call(constructor) as unknown) : undefined;
}

function baseOf(message: BaseMessage): MessageConstructor | undefined {
  let prototype: unknown = Object.getPrototypeOf(message);
  while (isRecord(prototype)) {
    const { constructor } = prototype as { readonly constructor?: unknown };
    if (serializedName(constructor) === 'BaseMessage') return constructor as MessageConstructor;
    prototype = Object.getPrototypeOf(prototype);
  }
  return undefined;
}

/** Derives a message class. LangChain uses only the `type` of a message and the `lc_name` of its class. */
function derive(Base: MessageConstructor, name: MessageClassName): MessageConstructor {
  return class extends Base {
    static lc_name(): string {
      return name;
    }

    override readonly type = KINDS[name];

    override _getType(): BaseMessage['type'] {
      return this.type;
    }
  };
}
