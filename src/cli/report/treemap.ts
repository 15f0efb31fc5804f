// Lays out a squarified treemap (Bruls, Huizing and van Wijk, 2000): rectangles proportional to their weights and as close to
// squares as possible.

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Divides an area among weights.
 *
 * @param weights positive, in descending order
 * @returns a rectangle for each weight, in order; together they fill the area
 */
export function treemap(weights: readonly number[], area: Rectangle): readonly Rectangle[] {
  const rectangles: Rectangle[] = [];
  let left = area;
  let rest = weights.reduce((sum, weight) => sum + weight, 0);
  for (let at = 0; at < weights.length;) {
    const scale = (left.width * left.height) / rest;
    const side = Math.min(left.width, left.height);
    let count = 1;
    while (
      at + count < weights.length &&
      worst(weights.slice(at, at + count + 1), side, scale) <=
        worst(weights.slice(at, at + count), side, scale)
    ) {
      count += 1;
    }
    const row = weights.slice(at, at + count);
    const sum = row.reduce((total, weight) => total + weight, 0);
    rectangles.push(...layRow(row, sum, left, sum / rest));
    left = remainingArea(left, sum / rest);
    rest -= sum;
    at += count;
  }
  return rectangles;
}

/** Returns the worst aspect ratio of a row's rectangles; 1 for squares. */
function worst(row: readonly number[], side: number, scale: number): number {
  const thickness = (row.reduce((sum, weight) => sum + weight, 0) * scale) / side;
  return Math.max(
    ...row.map((weight) => {
      const length = (weight * scale) / thickness;
      return Math.max(length / thickness, thickness / length);
    }),
  );
}

/** Places a row of rectangles along the shorter side of the free area. */
function layRow(
  row: readonly number[],
  sum: number,
  { x, y, width, height }: Rectangle,
  share: number,
): readonly Rectangle[] {
  let offset = 0;
  return row.map((weight) => {
    const [from, part] = [offset, weight / sum];
    offset += part;
    return width >= height
      ? { x, y: y + from * height, width: width * share, height: height * part }
      : { x: x + from * width, y, width: width * part, height: height * share };
  });
}

function remainingArea({ x, y, width, height }: Rectangle, share: number): Rectangle {
  return width >= height
    ? { x: x + width * share, y, width: width * (1 - share), height }
    : { x, y: y + height * share, width, height: height * (1 - share) };
}
