export interface EpochRow {
  readonly epoch: number;
  readonly role: 'shown' | 'build' | 'left';
}

/** Of a stream's epochs all that were ever used and serve nobody. While nothing is shown the first epoch may still be. */
export function leftEpochs(rows: readonly EpochRow[]): number[] {
  if (!rows.some(({ role }) => role === 'shown')) return [];
  const used = new Set(rows.filter(({ role }) => role !== 'left').map(({ epoch }) => epoch));
  const last = Math.max(...rows.map(({ epoch }) => epoch));
  return Array.from({ length: last }, (_, at) => at + 1).filter((epoch) => !used.has(epoch));
}
