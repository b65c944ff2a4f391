// Sends the cases of h1-cases.mjs to a server, each over a connection of its own, and says which it got wrong.
//
// usage: node h1.mjs PORT whole|streamed: how it echoes content
import net from 'node:net';
import {cases, WAITS} from './h1-cases.mjs';

const QUIET_MS = 2_000; // a server that has not answered by now, on a busy machine too, waits for more
const port = Number(process.argv[2]);
const echo = process.argv[3];

// All that comes back, until it has been quiet for a while or the connection is closed.
const talk = bytes => new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1');
    const received = [];
    let quiet;
    const done = state => {
        clearTimeout(quiet);
        socket.destroy();
        resolve({received: Buffer.concat(received).toString('latin1'), state});
    };
    const wait = () => {
        clearTimeout(quiet);
        quiet = setTimeout(() => done('open'), QUIET_MS);
    };
    socket.on('connect', () => {
        socket.write(Buffer.from(bytes, 'latin1'));
        wait();
    });
    socket.on('data', data => {
        received.push(data);
        wait();
    });
    socket.on('end', () => done('closed'));
    socket.on('error', error => error.code === 'ECONNRESET' ? done('reset') : reject(error));
});

// Takes answers apart by their framing; what is left over at the end is a fault.
function statuses(text, methods) {
    const found = [];
    while (text.length > 0) {
        const end = text.indexOf('\r\n\r\n');
        const line = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n/.exec(text);
        if (end < 0 || line === null) return [...found, `garbage: ${JSON.stringify(text.slice(0, 60))}`];
        const head = text.slice(0, end + 4).toLowerCase();
        const status = Number(line[1]);
        const method = methods[found.filter(each => each >= 200).length] ?? 'GET';
        found.push(status);
        text = text.slice(end + 4);
        if (status < 200 || status === 204 || status === 304 || method === 'HEAD') continue;
        const length = /\r\ncontent-length: (\d+)\r\n/.exec(head);
        if (length !== null) {
            if (text.length < length[1]) return [...found, 'cut off'];
            text = text.slice(Number(length[1]));
        } else if (head.includes('\r\ntransfer-encoding: chunked\r\n')) {
            const last = text.indexOf('0\r\n\r\n');
            if (last < 0) return [...found, 'cut off'];
            text = text.slice(last + 5);
        } else {
            return found; // until the end
        }
    }
    return found;
}

const fits = (status, right) => {
    if (typeof right === 'number' || right === 'cut off') return status === right;
    if (right === 'not 400') return status >= 200 && status !== 400;
    if (right === 'not 2xx') return status >= 400;
    return Math.floor(status / 100) === Number(right[0]);
};

function judge(right, answers, state) {
    if (right === WAITS) return answers.length === 0 && state === 'open';
    let expected = right.slice(0, -1);
    const end = right.at(-1);
    if (expected[0] === 'maybe 100') expected = answers[0] === 100 ? [100, ...expected.slice(1)] : expected.slice(1);
    return expected.length === answers.length && expected.every((each, i) => fits(answers[i], each))
        && (end === 'any' ? state !== 'reset' : state === end);
}

let failed = 0;
const results = await Promise.all(cases.map(async ([name, bytes, judgement, methods = []]) => {
    const right = judgement[echo] ?? judgement;
    const {received, state} = await talk(bytes);
    const answers = statuses(received, methods);
    return {name, right, answers, state, passed: judge(right, answers, state)};
}));
for (const {name, right, answers, state, passed} of results) {
    if (!passed) failed++;
    console.log(`${passed ? 'ok    ' : 'FAILED'}  ${name}${passed ? '' : `: expected ${right}, got ${[...answers, state]}`}`);
}
console.log(`${results.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
