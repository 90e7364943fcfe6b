// What a test gets as fast-check. Properties run from one seed, so that a run can be repeated and a change is judged by what it changed.
// TIDEMARK_PROPERTY_SEED (a number, or `random`) explores others; a failure prints the seed that shows it.
const fc = require('../../node_modules/fast-check/lib/cjs/fast-check.js');

const given = process.env.TIDEMARK_PROPERTY_SEED ?? '1';
if (given !== 'random') fc.configureGlobal({ seed: Number(given) });

module.exports = fc;
