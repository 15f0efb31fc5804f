// Stacks the layers of a chart. Separate from the drawing, so that it can be tested without a browser.

/** Returns the upper edge of each layer: the running sums from the first layer up. */
export function stack(layers: readonly (readonly number[])[]): number[][] {
  const sums: number[] = [];
  return layers.map((layer) => layer.map((value, at) => (sums[at] = (sums[at] ?? 0) + value)));
}
