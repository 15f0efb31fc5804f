// Lays out a treemap: rectangles proportional to their weights, and closer to squares than to strips.

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Divides an area among weights: into two parts of about the same weight along its longer side, and so on.
 *
 * @param weights positive, in descending order
 * @returns a rectangle for each weight, in order; together they fill the area
 */
export function treemap(weights: readonly number[], area: Rectangle): readonly Rectangle[] {
  const [first = 0] = weights;
  if (weights.length < 2) return weights.map(() => area);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let [count, sum] = [1, first];
  for (const weight of weights.slice(1, -1)) {
    // The part that is nearer to the half.
    if (sum + weight / 2 > total / 2) break;
    sum += weight;
    count += 1;
  }
  const [one, other] = split(area, sum / total);
  return [...treemap(weights.slice(0, count), one), ...treemap(weights.slice(count), other)];
}

function split(area: Rectangle, share: number): readonly [Rectangle, Rectangle] {
  const { x, y, width, height } = area;
  const [left, top] = [width * share, height * share];
  return width >= height
    ? [
        { ...area, width: left },
        { ...area, x: x + left, width: width - left },
      ]
    : [
        { ...area, height: top },
        { ...area, y: y + top, height: height - top },
      ];
}
