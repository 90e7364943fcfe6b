// Who closed our output (| head) gets no more of it; the work, and the orderly stop, go on.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

/** What the launcher says to the person in front of it. */
export const say = (line) => process.stdout.write(`${line}\n`);
export const complain = (line) => process.stderr.write(`${line}\n`);

/** A reason to stop that is told in one line, without a stack. */
export class Problem extends Error {}

/**
 * A bar that moves in place on a terminal; elsewhere one line at every tenth.
 * @param {string} label
 * @param {number} total
 */
export function progressBar(label, total) {
  const tty = process.stdout.isTTY === true;
  let shown = -1;
  const draw = (done, end) => {
    const share = total === 0 ? 1 : Math.min(1, done / total);
    const step = tty ? Math.round(share * 100) : Math.floor(share * 10);
    if (step === shown && !end) return;
    shown = step;
    const filled = Math.round(share * 30);
    const line = `${label} [${'#'.repeat(filled)}${'.'.repeat(30 - filled)}] ${done}/${total}`;
    process.stdout.write(tty ? `\r\x1b[K${line}${end ? '\n' : ''}` : `${line}\n`);
  };
  return {
    /** @param {number} done */
    at: (done) => draw(done, false),
    end: (done = total) => {
      if (tty || shown !== 10 || done !== total) draw(done, true);
    },
  };
}
