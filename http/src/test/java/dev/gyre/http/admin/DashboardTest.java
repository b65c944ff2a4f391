package dev.gyre.http.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.LoopGroup;
import dev.gyre.http.HttpMetrics;
import dev.gyre.http.HttpServer;
import dev.gyre.io.Buffer;
import dev.gyre.io.Listener;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;
import dev.gyre.metrics.Watchdog;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/// The dashboard in a real browser.
final class DashboardTest {
    @TempDir static Path profile;

    private final LoopGroup group = LoopGroup.of(2);
    private final HttpMetrics metrics = HttpMetrics.create();
    private final Watchdog watchdog = Watchdog.on(group, Duration.ofMillis(200));
    private final AdminServer admin = AdminServer.of(group).metrics(metrics).watchdog(watchdog);
    private Browser browser;

    /// A protocol whose description a client could have chosen.
    private static final class Hostile implements Protocol {
        @Override
        public void onData(Stream stream, Buffer data) {
            stream.write(data);
        }

        @Override
        public String describe(Stream stream) {
            return "GET /<img id=evil src=x onerror=document.title='evil'>";
        }
    }

    @BeforeEach
    void open() throws Exception {
        browser = new Browser(profile);
        admin.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    @AfterEach
    void close() {
        browser.close();
        admin.close();
        watchdog.close();
        group.close();
    }

    private Socket connectToHostile() throws Exception {
        var listener =
                Listener.tcp(
                        group,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        stream -> stream.protocol(new Hostile()));
        group.start();
        int port = ((InetSocketAddress) listener.address()).getPort();
        Socket client = new Socket(InetAddress.getLoopbackAddress(), port);
        client.getOutputStream()
                .write("hello".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        assertThat(client.getInputStream().readNBytes(5)).hasSize(5);
        return client;
    }

    @Test
    @Clause("V-7")
    void page_showsLoopsAndConnections_withoutRunningWhatAPeerSent() throws Exception {
        try (Socket client = connectToHostile()) {
            browser.open(admin.uri());
            browser.await("document.querySelectorAll('#loops tbody tr').length === 2");
            browser.await(
                    "document.querySelector('#connections tbody').innerText.includes('<img"
                            + " id=evil')");
            assertThat(browser.evaluate("document.getElementById('evil')")).isEqualTo("null");
            assertThat(browser.evaluate("document.title")).isEqualTo("Gyre dashboard");
            assertThat(browser.evaluate("document.querySelector('#connections tbody').innerText"))
                    .contains("127.0.0.1:" + client.getLocalPort());
            browser.await("document.querySelectorAll('#charts polyline').length === 12");
            assertThat(browser.evaluate("document.getElementById('gone').textContent")).isEmpty();
        }
    }

    @Test
    void page_inANarrowWindow_doesNotScrollHorizontally() throws Exception {
        try (Socket _ = connectToHostile()) {
            browser.resize(400, 800);
            browser.open(admin.uri());
            browser.await("document.querySelectorAll('#connections tbody tr').length === 1");
            assertThat(browser.evaluate("document.documentElement.scrollWidth - innerWidth"))
                    .as("pixels beyond the window, or minus the width of a scroll bar")
                    .matches("0|-\\d+");
        }
    }

    @Test
    void page_isReadableInLightAndDark() throws Exception {
        group.start();
        browser.open(admin.uri());
        for (String scheme : new String[] {"light", "dark"}) {
            browser.preferColours(scheme);
            assertThat(Integer.parseInt(browser.evaluate(CONTRAST)))
                    .as("contrast of text in %s, in hundredths", scheme)
                    .isGreaterThan(700);
        }
    }

    /// The contrast of text and page as WCAG defines it.
    private static final String CONTRAST =
            """
            (() => {
              const luminance = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
                .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
                .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
              const style = getComputedStyle(document.body);
              const a = luminance(style.color), b = luminance(style.backgroundColor);
              return Math.round(100 * (Math.max(a, b) + .05) / (Math.min(a, b) + .05));
            })()
            """;

    @Test
    @Clause("V-3")
    void page_ofABlockedLoop_namesItAndShowsTheStack() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        group.start();
        try {
            group.loops().getFirst().submit(() -> block(release));
            browser.open(admin.uri());
            String name = group.loops().getFirst().config().name();
            browser.await(
                    "document.getElementById('blocked').textContent.includes('Loop %s does not')"
                            .formatted(name));
            browser.await("document.querySelector('.lane button') !== null");
            String _ = browser.evaluate("document.querySelector('.lane button').click()");
            browser.await("!document.getElementById('stack').hidden");
            assertThat(browser.evaluate("document.getElementById('stack').textContent"))
                    .contains(name + " blocked for ", "DashboardTest.block");
        } finally {
            release.countDown();
        }
        browser.await("document.getElementById('blocked').textContent === ''");
    }

    private static void block(CountDownLatch release) {
        try {
            release.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    @Clause("V-6")
    void trace_ofAConnection_startsShowsEventsAndStops() throws Exception {
        try (Socket client = connectToHostile()) {
            browser.open(admin.uri());
            browser.await("document.querySelector('#connections tbody button') !== null");
            String _ = browser.evaluate("document.querySelector('#connections button').click()");
            browser.await(
                    "document.getElementById('trace-note').textContent.startsWith('Tracing')");
            client.getOutputStream().write(1);
            assertThat(client.getInputStream().read()).isEqualTo(1);
            browser.await("document.getElementById('events').textContent.includes(' READ ')");
            assertThat(group.trace().isOn()).isTrue();
            String _ = browser.evaluate("document.getElementById('stop').click()");
            browser.await(
                    "document.getElementById('trace-note').textContent.startsWith('Stopped')");
            assertThat(group.trace().isOn()).isFalse();
        }
    }

    @Test
    @Clause("V-6")
    void page_openedDuringATrace_canStopIt() throws Exception {
        group.start();
        group.trace().all().start();
        browser.open(admin.uri());
        browser.await("!document.getElementById('stop').disabled");
        String _ = browser.evaluate("document.getElementById('stop').click()");
        browser.await("document.getElementById('trace-note').textContent.startsWith('Stopped')");
        assertThat(group.trace().isOn()).isFalse();
    }

    @Test
    @Clause("V-7")
    void states_areThoseOfAllConnections_notOfTheListedOnes() throws Exception {
        group.start();
        browser.open(admin.uri());
        String _ =
                browser.evaluate(
                        """
                        (() => {
                          const real = ask;
                          const found = { total: 1, notResponding: [], connections: [],
                            states: { READING: 4321, WRITING: 0 } };
                          ask = (path, options) => path.startsWith('/connections')
                            ? Promise.resolve({ json: async () => found }) : real(path, options);
                        })()
                        """);
        browser.await(
                "document.getElementById('states').textContent.replace(/\\s/g, '')"
                        + " === 'reading4,321'");
    }

    @Test
    void filter_thatMatchesNothing_showsNoConnection() throws Exception {
        try (Socket _ = connectToHostile()) {
            browser.open(admin.uri());
            browser.await("document.querySelectorAll('#connections tbody tr').length === 1");
            String _ =
                    browser.evaluate(
                            "(document.querySelector('[name=peer]').value = '10.9.8.7',"
                                    + " document.getElementById('filter')"
                                    + ".dispatchEvent(new Event('input')))");
            browser.await("document.getElementById('shown').textContent.startsWith('0 found')");
            assertThat(
                            browser.evaluate(
                                    "document.querySelectorAll('#connections tbody tr').length"))
                    .isEqualTo("0");
        }
    }

    @Test
    void page_ofAServerThatIsGone_saysSo() throws Exception {
        HttpServer.on(group).use(metrics);
        group.start();
        browser.open(admin.uri());
        browser.await("document.querySelectorAll('#loops tbody tr').length === 2");
        admin.close();
        browser.await("document.getElementById('gone').textContent.startsWith('No response from')");
    }
}
