// What is sent over a bare connection, and what has to come back. The families are those of the two public h1spec
// suites, which no registry of packages has; the cases are written anew, and further ones are among them.
//
// A case: [name, bytes, what is right]. Right is one of
//   WAITS            no answer for a while, and the connection stays
//   [200, 'open']    these statuses in this order, then the connection stays open, or is closed: 'closed'
//   {whole, streamed}  one of these for servers that echo content when all of it has come, another for those that do as it comes
// and a status may be a range: '4xx'. 'cut off' stands for an answer before it that does not come to its end.

export const WAITS = 'waits';

const get = (fields, target = '/', version = 'HTTP/1.1') => `GET ${target} ${version}\r\n${fields}\r\n`;
const post = (fields, content, version = 'HTTP/1.1') => `POST /echo ${version}\r\n${fields}\r\n${content}`;
const HOST = 'Host: localhost\r\n';
const CHUNKED = HOST + 'Transfer-Encoding: chunked\r\n';
const AFTER = get(HOST + 'Connection: close\r\n'); // must not be answered behind what was refused

const pieces = () => {
    const whole = get(HOST, '/hello');
    const ends = [1, 4, 10, 11, 15, 19, 20, 21, 24, 26, 27, 36, 37, 38, 39];
    return ends.map(end => [`pieces: the first ${end} bytes of a head`, whole.slice(0, end), WAITS]);
};

const requestLine = [
    ['line: a plain request', get(HOST), [200, 'open']],
    ['line: absolute form', get(HOST, 'http://localhost/'), [200, 'open']],
    ['line: asterisk form', `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`, ['not 400', 'open']],
    ['line: authority form of the host itself', 'CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\n\r\n', ['not 400', 'any']],
    ['line: authority form of another host', `CONNECT example.com:443 HTTP/1.1\r\n${HOST}\r\n`, ['not 2xx', 'any']],
    ['line: no version', 'GET / \r\n\r\n' + AFTER, ['4xx', 'closed']],
    ['line: no version, with fields', 'GET /\r\n' + HOST + '\r\n' + AFTER, [400, 'closed']],
    ['line: version 9.9', get(HOST, '/', 'HTTP/9.9') + AFTER, [505, 'closed']],
    ['line: version 2.0', get(HOST, '/', 'HTTP/2.0') + AFTER, [505, 'closed']],
    ['line: version in lower case', get(HOST, '/', 'http/1.1') + AFTER, [400, 'closed']],
    ['line: words in front of it', 'Extra line' + get(HOST) + AFTER, ['4xx', 'closed']],
    ['line: a method that nobody knows', `BREW / HTTP/1.1\r\n${HOST}\r\n`, [501, 'open']],
    ['line: a method in lower case', `get / HTTP/1.1\r\n${HOST}\r\n`, [501, 'open']],
    ['line: two spaces', 'GET  / HTTP/1.1\r\n' + HOST + '\r\n' + AFTER, [400, 'closed']],
    ['line: a tab instead of a space', 'GET\t/ HTTP/1.1\r\n' + HOST + '\r\n' + AFTER, [400, 'closed']],
    ['line: a target of 10 000 bytes', get(HOST, '/' + 'a'.repeat(10_000)), [414, 'closed']],
    ['line: an empty line before it', '\r\n' + get(HOST), [200, 'open']],
    ['line: ended by LF alone', 'GET / HTTP/1.1\n' + HOST + '\r\n' + AFTER, [400, 'closed']],
];

const fields = [
    ['fields: odd but right', get('hoSt:\tlocalhost\r\nempty:\r\n'), [200, 'open']],
    ['fields: an empty value', get(HOST + 'X-Empty: \r\n'), [200, 'open']],
    ['fields: brackets in a name', get(HOST + 'X-Bad[]: a\r\n') + AFTER, [400, 'closed']],
    ['fields: a space in a name', get(HOST + 'Bad Name: a\r\n') + AFTER, [400, 'closed']],
    ['fields: a space before the colon', get('Host : localhost\r\n') + AFTER, [400, 'closed']],
    ['fields: no name', get(HOST + ': a\r\n') + AFTER, [400, 'closed']],
    ['fields: no colon', get(HOST + 'nothing\r\n') + AFTER, [400, 'closed']],
    ['fields: a bell in a value', get(HOST + 'X-Bell: a\x07\r\n') + AFTER, [400, 'closed']],
    ['fields: a zero in a value', get('Host: local\0host\r\n') + AFTER, [400, 'closed']],
    ['fields: a CR in a value', get(HOST + 'X-Cr: a\rb\r\n') + AFTER, [400, 'closed']],
    ['fields: a CR before a name', get(HOST + '\rX-Cr: a\r\n') + AFTER, [400, 'closed']],
    ['fields: ended by LF alone', get(HOST + 'X-Lf: a\n') + AFTER, [400, 'closed']],
    ['fields: folded', get(HOST + 'X-Fold: a\r\n  b\r\n') + AFTER, [400, 'closed']],
    ['fields: white space before the first', get(' ' + HOST) + AFTER, [400, 'closed']],
    ['fields: no Host', get('') + AFTER, [400, 'closed']],
    ['fields: no Host, but a length', get('Content-Length: 5\r\n') + AFTER, [400, 'closed']],
    ['fields: no Host by HTTP/1.0', get('', '/', 'HTTP/1.0'), [200, 'closed']],
    ['fields: Host twice', get(HOST + 'Host: example.org\r\n') + AFTER, [400, 'closed']],
    ['fields: Host of two words', get('Host: bad host\r\n') + AFTER, [400, 'closed']],
    ['fields: 200 of them', get(HOST + 'X: a\r\n'.repeat(200)) + AFTER, [431, 'closed']],
    ['fields: one of 20 000 bytes', get(HOST + `X: ${'a'.repeat(20_000)}\r\n`) + AFTER, [431, 'closed']],
];

const lengths = [
    ['length: content of 5 bytes', post(HOST + 'Content-Length: 5\r\n', 'hello'), [200, 'open']],
    ['length: content of none', post(HOST + 'Content-Length: 0\r\n', ''), [200, 'open']],
    ['length: content where nobody wants it', `POST / HTTP/1.1\r\n${HOST}Content-Length: 5\r\n\r\nhello`, [405, 'any']],
    ['length: negative', get(HOST + 'Content-Length: -1234\r\n') + AFTER, [400, 'closed']],
    ['length: negative beyond 64 bits', get(HOST + `Content-Length: -${'123456789'.repeat(3)}\r\n`) + AFTER, [400, 'closed']],
    ['length: beyond 64 bits', get(HOST + `Content-Length: ${'123456789'.repeat(3)}\r\n`) + AFTER, ['4xx', 'closed']],
    ['length: no number', get(HOST + 'Content-Length: abc\r\n') + AFTER, [400, 'closed']],
    ['length: a plus sign', post(HOST + 'Content-Length: +5\r\n', 'hello') + AFTER, [400, 'closed']],
    ['length: two, and different', post(HOST + 'Content-Length: 5\r\nContent-Length: 7\r\n', 'hello!!') + AFTER, [400, 'closed']],
    ['length: a list', post(HOST + 'Content-Length: 5, 7\r\n', 'hello!!') + AFTER, [400, 'closed']],
    ['length: with chunks', post(CHUNKED + 'Content-Length: 5\r\n', '5\r\nhello\r\n0\r\n\r\n') + AFTER, [400, 'closed']],
    ['length: with chunks, on GET', get(CHUNKED + 'Content-Length: 5\r\n') + AFTER, [400, 'closed']],
    ['length: more than is taken', post(HOST + 'Content-Length: 999999999\r\n', ''), [413, 'closed']],
];

const LATE = {whole: [400, 'closed'], streamed: [200, 'cut off', 'closed']}; // wrong when some of it has been echoed

const chunks = [
    ['chunks: one', post(CHUNKED, '5\r\nhello\r\n0\r\n\r\n'), [200, 'open']],
    ['chunks: with an extension and a trailer', post(CHUNKED, '5;a=b\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n'), [200, 'open']],
    ['chunks: by HTTP/1.0', post(CHUNKED, '5\r\nhello\r\n0\r\n\r\n', 'HTTP/1.0') + AFTER, [400, 'closed']],
    ['chunks: of a coding nobody knows', post(HOST + 'Transfer-Encoding: nonsense\r\n', 'hello') + AFTER, ['not 2xx', 'closed']],
    ['chunks: not the last coding', post(HOST + 'Transfer-Encoding: chunked, gzip\r\n', '5\r\nhello\r\n0\r\n\r\n') + AFTER, [400, 'closed']],
    ['chunks: a size that is no number', post(CHUNKED, 'Z\r\nhello\r\n0\r\n\r\n') + AFTER, [400, 'closed']],
    ['chunks: a size with 0x', post(CHUNKED, '0x5\r\nhello\r\n0\r\n\r\n') + AFTER, [400, 'closed']],
    ['chunks: a negative size', post(CHUNKED, '-5\r\nhello\r\n0\r\n\r\n') + AFTER, [400, 'closed']],
    ['chunks: a size beyond 64 bits', post(CHUNKED, 'fffffffffffffffff\r\nhello\r\n0\r\n\r\n') + AFTER, ['4xx', 'closed']],
    ['chunks: no CRLF behind the data', post(CHUNKED, '5\r\nhello0\r\n\r\n') + AFTER, LATE],
    ['chunks: a size ended by LF alone', post(CHUNKED, '5\nhello\r\n0\r\n\r\n') + AFTER, [400, 'closed']],
    ['chunks: more data than the size says', post(CHUNKED, '5\r\nhelloworld\r\n0\r\n\r\n') + AFTER, LATE],
    ['chunks: the last one missing', post(CHUNKED, '5\r\nhello\r\n'), {whole: WAITS, streamed: [200, 'cut off', 'open']}],
];

const connection = [
    ['connection: kept', get(HOST) + get(HOST), [200, 200, 'open']],
    ['connection: ten requests ahead', get(HOST).repeat(10), [...Array(10).fill(200), 'open']],
    ['connection: content, then a request', post(HOST + 'Content-Length: 5\r\n', 'hello') + get(HOST), [200, 200, 'open']],
    ['connection: chunks, then a request', post(CHUNKED, '5\r\nhello\r\n0\r\n\r\n') + get(HOST), [200, 200, 'open']],
    ['connection: a request, then wrong content', get(HOST) + post(CHUNKED, 'Z\r\nhello\r\n') + AFTER, [200, 400, 'closed']],
    ['connection: a request, then content that goes wrong', get(HOST) + post(CHUNKED, '5\r\nhello\r\nZ\r\n') + AFTER,
        {whole: [200, 400, 'closed'], streamed: [200, 200, 'cut off', 'closed']}],
    ['connection: close', get(HOST + 'Connection: close\r\n') + get(HOST), [200, 'closed']],
    ['connection: HTTP/1.0', get(HOST, '/', 'HTTP/1.0') + get(HOST), [200, 'closed']],
    ['connection: HTTP/1.0 that keeps it', get(HOST + 'Connection: keep-alive\r\n', '/', 'HTTP/1.0') + get(HOST), [200, 200, 'open']],
    ['connection: what is not found', get(HOST, '/nowhere') + get(HOST), [404, 200, 'open']],
    ['answers: HEAD has no content', `HEAD /json HTTP/1.1\r\n${HOST}\r\n` + get(HOST), [200, 200, 'open'], ['HEAD', 'GET']],
    ['expect: on a request without content', get(HOST + 'Expect: 100-continue\r\n'), [200, 'open']],
    ['expect: content is waited for', post(HOST + 'Content-Length: 5\r\nExpect: 100-continue\r\n', ''), [100, 'open']],
    ['expect: content came with it', post(HOST + 'Content-Length: 5\r\nExpect: 100-continue\r\n', 'hello'), ['maybe 100', 200, 'open']],
    ['expect: what nobody knows', get(HOST + 'Expect: a-miracle\r\n'), [417, 'closed']],
];

export const cases = [...pieces(), ...requestLine, ...fields, ...lengths, ...chunks, ...connection];
