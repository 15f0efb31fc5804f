// Makes messages of the classes that other messages have: copies with other fields, and new ones. So the
// messages work with the LangChain that the application has loaded, whichever that is.

import { isRecord } from '../../shared/json.js';
import type { BaseMessage } from '@langchain/core/messages';
import { typeOf } from './message-fields.js';

/** Which message to make, by the name that LangChain serializes it under. */
export type MessageClassName = 'HumanMessage' | 'AIMessage';

type MessageConstructor = new (fields: { content: string }) => BaseMessage;

const KINDS: Readonly<Record<MessageClassName, string>> = {
  HumanMessage: 'human',
  AIMessage: 'ai',
};

/**
 * Returns a message of the same class in which some fields differ, also in what is serialized. It has the
 * id and everything else that the message has; the message itself is not changed.
 */
export function copyWith<M extends BaseMessage>(
  message: M,
  changes: Readonly<Record<string, unknown>>,
): M {
  const descriptors = Object.getOwnPropertyDescriptors(message) as PropertyDescriptorMap;
  const kwargs = { ...message.lc_kwargs, ...changes };
  // Some versions keep the content under a second name as well.
  if ('content' in changes && kwargs['contentBlocks'] !== undefined) {
    kwargs['contentBlocks'] = changes['content'];
  }
  for (const [key, value] of Object.entries({ ...changes, lc_kwargs: kwargs })) {
    descriptors[key] = { value, writable: true, enumerable: true, configurable: true };
  }
  return Object.create(Object.getPrototypeOf(message) as object, descriptors) as M;
}

/**
 * Makes a message that holds one text. Its class is that of a message of its kind in `among`; where
 * there is none, one that is derived from what all messages have in common, and is taken for it.
 *
 * @throws TypeError when no message is there to learn the classes from
 */
export function makeMessage(
  name: MessageClassName,
  content: string,
  among: readonly BaseMessage[],
): BaseMessage {
  const kind = KINDS[name];
  const example = among.find((message) => typeOf(message) === kind && nameOf(message) === name);
  if (example !== undefined) return new (constructorOf(example))({ content });
  for (const message of among) {
    const Base = baseOf(message);
    if (Base !== undefined) return new (derive(Base, name))({ content });
  }
  throw new TypeError(`Expected a message of LangChain to make a ${name} like it, got none.`);
}

function constructorOf(message: BaseMessage): MessageConstructor {
  return message.constructor as MessageConstructor;
}

function nameOf({ constructor }: BaseMessage): unknown {
  return serializedName(constructor);
}

function serializedName(constructor: unknown): unknown {
  if (typeof constructor !== 'function' || !('lc_name' in constructor)) return undefined;
  const { lc_name: ask } = constructor;
  return typeof ask === 'function' ? (ask.call(constructor) as unknown) : undefined;
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

/** LangChain asks a message for its `type` and a class for its `lc_name`, and for no more. */
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
