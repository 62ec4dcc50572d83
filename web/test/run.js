// All tests of the page, one file after the other: node test/run.js [words of a name].
import { finish } from './harness.js';

for (const file of ['page', 'view', 'contact', 'flexible', 'overlay']) await import(`./${file}.test.js`);
await finish();
