// Compressed WebSocket messages, there and back, by a client of another make: the sizes and the parameters that the Autobahn
// suite has in its families 12 and 13, which the version that packages have is without.
//
// usage: node deflate.mjs URL, with the package ws below the working directory
import {createRequire} from 'node:module';
const WebSocket = createRequire(process.cwd() + '/')('ws');

const SIZES = [16, 64, 256, 1024, 4096, 8192, 16384, 32768, 65536, 131072];
const MESSAGES = 1000;
const BYTES = 8 << 20; // large ones are fewer
const AHEAD = 16; // so many are under way at once
const PARAMETERS = {
    'no parameter': {},
    'client without context': {clientNoContextTakeover: true},
    'server without context': {serverNoContextTakeover: true},
    'both without context': {clientNoContextTakeover: true, serverNoContextTakeover: true},
    'client window of 9 bits': {clientMaxWindowBits: 9},
    'server window of 15 bits': {serverMaxWindowBits: 15},
    'all at once': {clientNoContextTakeover: true, serverNoContextTakeover: true, clientMaxWindowBits: 9, serverMaxWindowBits: 15},
};
const url = process.argv[2];

const words = ['event', 'loop', 'kernel', 'ring', 'straße', 'κόσμε', '日本', '{"a":1}', ' ', '\n'];
function text(bytes, seed) {
    let made = '';
    for (let i = seed; Buffer.byteLength(made) < bytes; i = (i * 31 + 7) % 1009) made += words[i % words.length];
    return made;
}
const binary = (bytes, seed) => Buffer.from(Array.from({length: bytes}, (_, i) => (i * seed + (i >> 5)) & 0xff));

const exchange = (parameters, messages) => new Promise((resolve, reject) => {
    const count = Math.min(MESSAGES, Math.ceil(BYTES / Buffer.byteLength(messages[0])));
    const options = {threshold: 0, ...parameters};
    const socket = new WebSocket(url, {perMessageDeflate: options});
    let sent = 0, answered = 0;
    const fail = why => {
        socket.terminate();
        reject(new Error(why));
    };
    const send = () => {
        while (sent < count && sent < answered + AHEAD) {
            const message = messages[sent++ % messages.length];
            socket.send(message, {compress: true, binary: typeof message !== 'string'});
        }
    };
    socket.on('open', () => socket.extensions.startsWith('permessage-deflate') ? send() : fail('not agreed on'));
    socket.on('message', (data, isBinary) => {
        const message = messages[answered % messages.length];
        if (isBinary !== (typeof message !== 'string') || !data.equals(Buffer.from(message))) fail(`message ${answered} came back changed`);
        else if (++answered === count) socket.close(1000);
        else send();
    });
    socket.on('error', error => reject(error));
    socket.on('close', code => code === 1000 && answered === count ? resolve() : reject(new Error(`closed with ${code} after ${answered}`)));
});

let passed = 0, failed = 0;
async function run(name, parameters, messages) {
    try {
        await exchange(parameters, messages);
        passed++;
        console.log(`ok      ${name}`);
    } catch (error) {
        failed++;
        console.log(`FAILED  ${name}: ${error.message}`);
    }
}
for (const [parameter, options] of Object.entries(PARAMETERS)) {
    for (const size of SIZES) {
        await run(`${parameter}, text of ${size}`, options, [text(size, 1), text(size, 3), text(size, 5)]);
        await run(`${parameter}, binary of ${size}`, options, [binary(size, 7), binary(size, 13)]);
    }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
