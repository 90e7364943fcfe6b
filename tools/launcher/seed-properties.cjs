// Properties run from one seed, so that a run can be repeated and a change is judged by what it changed. TIDEMARK_PROPERTY_SEED
// (a number, or `random`) explores others; a failure prints the seed that shows it.
const fc = require('fast-check');

const given = process.env.TIDEMARK_PROPERTY_SEED ?? '1';
if (given !== 'random') fc.configureGlobal({ seed: Number(given) });
