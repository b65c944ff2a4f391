// Reads what the Autobahn suite has found and says what of it is a failure.
//
// usage: node autobahn.mjs REPORTS
import {readFileSync} from 'node:fs';

const results = Object.values(JSON.parse(readFileSync(process.argv[2] + '/index.json', 'utf8')))[0];
const count = {};
let failed = 0;
for (const [id, {behavior, behaviorClose}] of Object.entries(results)) {
    count[behavior] = (count[behavior] ?? 0) + 1;
    const fails = !['OK', 'NON-STRICT', 'INFORMATIONAL'].includes(behavior) || !['OK', 'INFORMATIONAL'].includes(behaviorClose);
    if (fails) {
        failed++;
        console.log(`FAILED  ${id}: ${behavior}, closing ${behaviorClose}`);
    } else if (behavior !== 'OK') {
        console.log(`${behavior.toLowerCase()}  ${id}`);
    }
}
console.log(Object.entries(count).map(([each, n]) => `${n} ${each}`).join(', '));
const passed = Object.keys(results).length - failed;
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 200 ? 0 : 1);
