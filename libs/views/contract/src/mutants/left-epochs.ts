import { type MemoryEpochs, MemoryViews } from '../memory-views.ts';
import type { Mutants } from './opener.ts';

class DropsNothing extends MemoryViews {
  override async dropEpochs(): Promise<number> {
    return 0;
  }
}

class DropsAllAtOnce extends MemoryViews {
  override dropEpochs(stream: string): Promise<number> {
    return super.dropEpochs(stream, Infinity);
  }
}

class DropsTheShown extends MemoryViews {
  protected override isLeft(epochs: MemoryEpochs, epoch: number): boolean {
    return super.isLeft(epochs, epoch) || (epochs.build === null && epochs.shown?.epoch === epoch);
  }
}

class DropsTheBuild extends MemoryViews {
  protected override isLeft(epochs: MemoryEpochs, epoch: number): boolean {
    return super.isLeft({ ...epochs, build: null }, epoch);
  }
}

class DropsTheUnshown extends MemoryViews {
  protected override isLeft({ shown, build, last }: MemoryEpochs, epoch: number): boolean {
    return epoch <= last && epoch !== shown?.epoch && epoch !== build?.epoch;
  }
}

class DropsOnce extends MemoryViews {
  #isDone = false;

  override async dropEpochs(stream: string, limit: number): Promise<number> {
    if (this.#isDone) return 0;
    const dropped = await super.dropEpochs(stream, limit);
    this.#isDone = dropped === 0;
    return dropped;
  }
}

class DropsOfEveryStream extends MemoryViews {
  override async dropEpochs(stream: string, limit: number): Promise<number> {
    for (const key of this.store.rows.keys())
      if ((JSON.parse(key) as [string])[0] === 'other') this.store.rows.delete(key);
    return super.dropEpochs(stream, limit);
  }
}

export const leftEpochMutants: Mutants = {
  dropsNothing: (store) => new DropsNothing(store),
  dropsAllAtOnce: (store) => new DropsAllAtOnce(store),
  dropsTheShown: (store) => new DropsTheShown(store),
  dropsTheBuild: (store) => new DropsTheBuild(store),
  dropsTheUnshown: (store) => new DropsTheUnshown(store),
  dropsOnce: (store) => new DropsOnce(store),
  dropsOfEveryStream: (store) => new DropsOfEveryStream(store),
};
