import { type MemoryEpochs, MemoryViews } from '../memory-views.ts';
import { FIRST_EPOCH, type Revisions, type StoredMark } from '../views.ts';
import type { Mutants } from './opener.ts';

type Save = Parameters<MemoryViews['saveMark']>;

class CopiesTheShownMark extends MemoryViews {
  override async startBuild(stream: string, revisions: Revisions): Promise<StoredMark | 'conflict'> {
    const started = await super.startBuild(stream, revisions);
    const { shown } = this.epochs(stream);
    return started === 'conflict' || shown === null ? started : { ...started, watermark: shown.watermark };
  }
}

class RestartsBuilds extends MemoryViews {
  override async startBuild(stream: string, revisions: Revisions): Promise<StoredMark | 'conflict'> {
    const { build } = this.epochs(stream);
    if (build !== null && revisions.get('event') === 7) await this.abandonBuild(stream, build.epoch);
    return super.startBuild(stream, revisions);
  }
}

class SharesOneVersion extends MemoryViews {
  override async saveMark(...[stream, epoch, watermark, expected, revisions]: Save) {
    const { shown, build } = this.epochs(stream);
    const isShared = build?.epoch === epoch && expected === shown?.version;
    return super.saveMark(stream, epoch, watermark, isShared ? build.version : expected, revisions);
  }
}

class SwitchesBehind extends MemoryViews {
  protected override mayShow(): boolean {
    return true;
  }
}

class SwitchesToAnyEpoch extends MemoryViews {
  override async switchTo(stream: string, epoch: number) {
    const { build } = this.epochs(stream);
    return super.switchTo(stream, build !== null && epoch > build.epoch ? build.epoch : epoch);
  }
}

class SwitchesOnce extends MemoryViews {
  override async switchTo(stream: string, epoch: number) {
    return this.epochs(stream).shown?.epoch === epoch ? 'conflict' : super.switchTo(stream, epoch);
  }
}

class KeepsOldMarks extends MemoryViews {
  override async saveMark(...save: Save) {
    const [stream, epoch, watermark] = save;
    const epochs = this.epochs(stream);
    const isOld = epochs.build === null && epochs.shown?.epoch === epoch + 1 && watermark.foldedThrough === 9n;
    return isOld ? 'saved' : super.saveMark(...save);
  }
}

class CountsVersionsAnew extends MemoryViews {
  override async switchTo(stream: string, epoch: number) {
    const outcome = await super.switchTo(stream, epoch);
    const epochs = this.epochs(stream);
    if (epochs.shown) this.store.epochs.set(stream, { ...epochs, shown: { ...epochs.shown, version: 1 } });
    return outcome;
  }
}

class AbandonsNothing extends MemoryViews {
  override async abandonBuild(): Promise<void> {}
}

class AbandonsAnyBuild extends MemoryViews {
  override async abandonBuild(stream: string): Promise<void> {
    const { build } = this.epochs(stream);
    if (build) await super.abandonBuild(stream, build.epoch);
  }
}

class ReusesEpochs extends MemoryViews {
  protected override nextEpoch(epochs: MemoryEpochs): number {
    return (epochs.shown?.epoch ?? FIRST_EPOCH) + 1;
  }
}

class BuildsTheFirstEpoch extends MemoryViews {
  protected override nextEpoch(epochs: MemoryEpochs): number {
    return epochs.shown === null ? epochs.last + 1 : super.nextEpoch(epochs);
  }
}

export const buildMutants: Mutants = {
  copiesTheShownMark: (store) => new CopiesTheShownMark(store),
  restartsBuilds: (store) => new RestartsBuilds(store),
  sharesOneVersion: (store) => new SharesOneVersion(store),
  switchesBehind: (store) => new SwitchesBehind(store),
  switchesToAnyEpoch: (store) => new SwitchesToAnyEpoch(store),
  switchesOnce: (store) => new SwitchesOnce(store),
  keepsOldMarks: (store) => new KeepsOldMarks(store),
  countsVersionsAnew: (store) => new CountsVersionsAnew(store),
  abandonsNothing: (store) => new AbandonsNothing(store),
  abandonsAnyBuild: (store) => new AbandonsAnyBuild(store),
  reusesEpochs: (store) => new ReusesEpochs(store),
  buildsTheFirstEpoch: (store) => new BuildsTheFirstEpoch(store),
};
