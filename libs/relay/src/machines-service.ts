import { type Clock, Fault, PRESENCE_BODY_BYTES_MAX } from '@tidemark/libs-kernel';
import type { PresenceBoard } from '@tidemark/libs-op-store-contract';
import { announcementProblem, decodeAnnouncement } from '@tidemark/libs-wire';

/** A machine that said nothing for this long is forgotten: 30 days. */
export const PRESENCE_RETENTION_SECS = 2_592_000n;
export const MACHINES_MAX = 100;

/** Which machines said hello to a stream lately (RLY-15). A claim by the machine, never an authorisation. */
export class MachinesService {
  readonly #board: PresenceBoard;
  readonly #clock: Clock;

  constructor(board: PresenceBoard, clock: Clock) {
    this.#board = board;
    this.#clock = clock;
  }

  /** Faults: `too_large`, `malformed` (also for a bound that is not kept, in words for a person), `invalid` for a wrong shape. */
  async announce(stream: string, body: Uint8Array): Promise<void> {
    if (body.length > PRESENCE_BODY_BYTES_MAX) {
      throw new Fault('too_large', `request body exceeded ${PRESENCE_BODY_BYTES_MAX} bytes`);
    }
    const hello = decodeAnnouncement(body);
    const problem = announcementProblem(hello);
    if (problem !== null) throw new Fault('malformed', problem);
    const now = this.#nowSecs();
    await this.#board.announce(stream, hello, now, now - PRESENCE_RETENTION_SECS);
  }

  /** JSON text: `{"machines":[...],"truncated":bool}`, most recent first. */
  async list(stream: string): Promise<string> {
    const now = this.#nowSecs();
    const { machines, truncated } = await this.#board.machines(stream, now - PRESENCE_RETENTION_SECS, MACHINES_MAX);
    const rows = machines.map((machine) => {
      const ageSecs = now > machine.lastSeenSecs ? now - machine.lastSeenSecs : 0n;
      const names = `"machine_id":${JSON.stringify(machine.machineId)},"name":${JSON.stringify(machine.name)}`;
      return `{${names},"last_seen":${machine.lastSeenSecs},"age_secs":${ageSecs},"interval_secs":${machine.intervalSecs}}`;
    });
    return `{"machines":[${rows.join(',')}],"truncated":${truncated}}`;
  }

  /** A clock before 1970 reads 0. */
  #nowSecs(): bigint {
    return BigInt(Math.max(0, Math.floor(this.#clock.now() / 1000)));
  }
}
