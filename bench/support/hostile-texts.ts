// Texts that are slow to count or trip counters: long words, rare characters, no breaks. Deterministic.

import { createHash } from 'node:crypto';

/** Makes a text of about that many UTF-16 units. */
export type MakeText = (length: number) => string;

/** One text per kind, by its contents. */
export const HOSTILE_TEXTS: Readonly<Record<string, MakeText>> = {
  'one letter': repeated('a'),
  'letters a to z': among('abcdefghijklmnopqrstuvwxyz'),
  'letters of both cases': among('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'),
  'Russian letters': between(0x430, 0x44f),
  'common CJK': among(
    '的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会',
  ),
  'any CJK': between(0x4e00, 0x9fff),
  'CJK extension B': between(0x20000, 0x2a6df),
  Hangul: between(0xac00, 0xd7a3),
  Thai: between(0xe01, 0xe2e),
  base64: (length) => bytes(length).toString('base64').slice(0, length),
  hex: (length) => bytes(length).toString('hex').slice(0, length),
  digits: between(0x30, 0x39),
  'bytes as latin1': between(0, 0xff),
  'special tokens': repeated('<|endoftext|>'),
  'any UTF-16 units': between(0, 0xffff),
  'lone surrogates': between(0xd800, 0xdfff),
  'emoji sequences': repeated('👨‍👩‍👧‍👦🏳️‍🌈👩🏽‍🚀'),
  emoji: between(0x1f300, 0x1f6ff),
  'combining marks': between(0x300, 0x36f),
  punctuation: among('!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~'),
  'one punctuation mark': repeated('='),
  spaces: repeated(' '),
  'spaces and tabs': among(' \t'),
  'spaces, tabs and line ends': among(' \t\r\n'),
  'line ends': repeated('\n'),
  'minified JavaScript': repeated('function t(e,n){return e.o(n)?r[n]:void 0}var i=t[0],u=!0;'),
};

function repeated(part: string): MakeText {
  return (length) => part.repeat(Math.ceil(length / part.length));
}

function among(characters: string): MakeText {
  return (length) => numbers(length, characters.length, (at) => characters.charAt(at));
}

function between(first: number, last: number): MakeText {
  return (length) => {
    const pointUnits = first > 0xffff ? 2 : 1;
    const points = last - first + 1;
    return numbers(length / pointUnits, points, (at) => String.fromCodePoint(first + at));
  };
}

function numbers(count: number, limit: number, toText: (number: number) => string): string {
  const random = bytes(count * 4);
  const parts: string[] = [];
  for (let at = 0; at + 4 <= random.length; at += 4) {
    parts.push(toText(random.readUInt32LE(at) % limit));
  }
  return parts.join('');
}

function bytes(count: number): Buffer {
  const hash = createHash('shake256', { outputLength: Math.ceil(count / 4) * 4 });
  return hash.update('hostile').digest();
}
