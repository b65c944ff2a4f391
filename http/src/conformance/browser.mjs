// A browser on the page that `gyre serve` shows: no complaint in its console, events tick, the WebSocket answers, fetch works.
//
// usage: node browser.mjs URL SCREENSHOT, with the package playwright-core below the working directory
import {createRequire} from 'node:module';
import {existsSync} from 'node:fs';
const {chromium} = createRequire(process.cwd() + '/')('playwright-core');

const [url, screenshot] = process.argv.slice(2);
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
        '--disable-component-update', '--disable-sync'],
});
let failed = 0, passed = 0;
const check = (name, right, found) => {
    if (right) passed++; else failed++;
    console.log(`${right ? 'ok    ' : 'FAILED'}  ${name}${right ? '' : `: ${found}`}`);
};
try {
    console.log(`browser ${browser.version()}`);
    const page = await browser.newPage();
    const complaints = [];
    page.on('console', message => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
    page.on('pageerror', error => complaints.push(error.message));
    page.on('requestfailed', request => complaints.push(`${request.url()} ${request.failure()?.errorText}`));
    const answer = await page.goto(url);
    check('the page loads', answer.status() === 200, answer.status());
    await page.waitForFunction(() => /ticks/.test(document.querySelector('#events output').textContent), null, {timeout: 10_000});
    const first = await page.textContent('#events output');
    await page.waitForFunction(before => document.querySelector('#events output').textContent !== before, first, {timeout: 10_000});
    check('events tick', true);
    await page.waitForFunction(() => document.querySelector('#events output').textContent.match(/ticks/g).length > 2, null, {timeout: 10_000});
    check('a line for each', true);
    await page.waitForFunction(() => /open/.test(document.querySelector('#ws output').textContent), null, {timeout: 10_000});
    await page.fill('#ws input', 'from a browser: κόσμε');
    await page.click('#ws button');
    await page.waitForFunction(() => /from a browser: κόσμε/.test(document.querySelector('#ws output').textContent), null, {timeout: 10_000});
    check('the WebSocket answers', true);
    const kept = async (name, before) => {
        const text = `kept ${name}`;
        await page.fill('#ws input', text);
        await page.evaluate(before);
        await page.click('#ws button');
        await page.waitForFunction(text => document.querySelector('#ws output').textContent.startsWith(text), text, {timeout: 10_000});
        check(`what is sent ${name} is kept`, true);
    };
    await kept('to a closed socket', () => new Promise(done => { socket.addEventListener('close', done); socket.close(); }));
    await kept('to a socket that is being opened', () => connect());
    const json = await page.evaluate(async () => (await fetch('/json')).json());
    check('fetch /json', json.message === 'Hello, World!', JSON.stringify(json));
    const echoed = await page.evaluate(async () => {
        const sent = 'x'.repeat(300_000);
        return (await (await fetch('/echo', {method: 'POST', body: sent})).text()) === sent;
    });
    check('fetch POST /echo of 300 000 bytes', echoed, 'it came back changed');
    check('no complaint in the console', complaints.length === 0, complaints.join('; '));
    await page.screenshot({path: screenshot, fullPage: true});
} catch (error) {
    check('the page does what it shows', false, error.message);
} finally {
    await browser.close();
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
