// Which of the caller's messages an edited message was made from, in the formats of APIs whose requests the gateway writes: it keeps the
// text of what is unchanged. An edit may leave nothing by which the original could be found.

/** Edited message → its originals. */
const ORIGINALS = new WeakMap<object, readonly object[]>();

/** Notes what a message was made from, and returns it. Does nothing if it is the same object. */
export function madeFrom<Message>(made: Message, ...from: readonly Message[]): Message {
  if (made !== from[0])
    ORIGINALS.set(
      made as object,
      from.flatMap((each) => originalsOf(each as object)),
    );
  return made;
}

/** Returns the originals of an edited message; the message itself if it was not made from another one. */
export function originalsOf<Message extends object>(message: Message): readonly Message[] {
  return (ORIGINALS.get(message) as readonly Message[] | undefined) ?? [message];
}
