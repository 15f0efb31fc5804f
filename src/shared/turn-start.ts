// Where the turn in progress begins, in any list of what user and model have said: a history, a request, or the messages of an SDK.

/** What a message is to a turn: an answer of the model, results, words of the user, or none of these. */
export type TurnPart = 'answer' | 'results' | 'words' | 'other';

/** Indices of the message that asks for the turn in progress and of the one that begins to answer; -1 for none. */
export interface TurnStart {
  readonly question: number;
  readonly start: number;
}

/**
 * Finds where the turn in progress begins. What the user says in a row is one message to the provider, together with results: words
 * beside or behind results begin no turn.
 */
export function findTurnStart<Message>(
  messages: readonly Message[],
  partOf: (message: Message) => TurnPart,
): TurnStart {
  let [question, start, isAnswered] = [-1, -1, false];
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const part = partOf(messages[at] as Message);
    if (part === 'results') isAnswered = true;
    else if (part === 'words' && question === -1) question = at;
    else if (part === 'answer') {
      if (question !== -1 && !isAnswered) return { question, start };
      [question, start, isAnswered] = [-1, at, false];
    }
  }
  return { question: isAnswered ? -1 : question, start };
}
