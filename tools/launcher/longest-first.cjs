const Sequencer = require('@jest/test-sequencer').default;

// The tests that start whole services take minutes and hold one worker; begun last they would leave the other one idle.
const LONGEST = ['tools/e2e/src/crash.spec.ts', 'tools/e2e/', 'tools/services/'];

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const place = ({ path }) => {
      const at = LONGEST.findIndex((part) => path.includes(part));
      return at === -1 ? LONGEST.length : at;
    };
    return [...super.sort(tests)].sort((a, b) => place(a) - place(b));
  }
};
