package dev.gyre.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.http.HttpMetrics;
import dev.gyre.http.HttpServer;
import dev.gyre.testkit.SimulatedWorld;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

class GyreMetricsTest {
    private final SimulatedWorld world = SimulatedWorld.seed(6);
    private final String name = world.loop().config().name();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final HttpMetrics http = HttpMetrics.create();

    @AfterEach
    void close() {
        world.close();
    }

    private void serve(int requests) {
        HttpServer.on(world.loop())
                .use(http)
                .get("/users/{id}", (_, response) -> response.text("hello"))
                .listen(80);
        for (int i = 0; i < requests; i++) {
            world.connect(80).send("GET /users/7 HTTP/1.1\r\nHost: a\r\n\r\n");
        }
        world.advance(Duration.ofSeconds(1));
    }

    @Test
    @Clause("V-5")
    void meters_ofALoop_haveItsNameAndFigures() {
        GyreMetrics.of(world.loop()).bindTo(registry);
        world.loop().after(Duration.ofMillis(5), _ -> {});
        serve(3);

        assertThat(registry.get("gyre.connections").tag("loop", name).gauge().value()).isEqualTo(3);
        assertThat(registry.get("gyre.connections.opened").functionCounter().count()).isEqualTo(3);
        assertThat(registry.get("gyre.loop.ticks").functionCounter().count())
                .isEqualTo((double) world.loop().metrics().ticks());
        assertThat(
                        registry.get("gyre.loop.callback.duration")
                                .tag("kind", "timer")
                                .functionTimer()
                                .count())
                .isEqualTo(1);
        assertThat(registry.get("gyre.loop.timer.lateness.max").timeGauge().value())
                .isGreaterThanOrEqualTo(0);
        assertThat(registry.find("http.server.request.duration").meters()).isEmpty();
    }

    @Test
    @Clause("V-5")
    void meters_ofHttp_areRegisteredAsRequestsArrive() {
        HttpMeters meters = new HttpMeters(http);
        meters.register(registry);
        serve(2);
        meters.register(registry);
        meters.register(registry);

        var duration =
                registry.get("http.server.request.duration")
                        .tag("http.request.method", "GET")
                        .tag("http.route", "/users/{id}")
                        .tag("http.response.status_code", "200")
                        .tag("url.scheme", "http")
                        .tag("error.type", "none")
                        .functionTimer();
        assertThat(duration.count()).isEqualTo(2);
        assertThat(duration.totalTime(TimeUnit.NANOSECONDS))
                .isEqualTo((double) http.series().getFirst().duration().sum().toNanos());
        assertThat(registry.get("http.server.response.body.size").functionCounter().count())
                .isEqualTo(10);
        assertThat(registry.get("http.server.active_requests").gauge().value()).isZero();
    }

    @Test
    @Clause("V-5")
    void bindTo_twiceOrAfterClose_throws() {
        GyreMetrics metrics = GyreMetrics.of(world.loop()).with(http);
        metrics.bindTo(registry);
        assertThatThrownBy(() -> metrics.bindTo(registry))
                .isInstanceOf(IllegalStateException.class);
        metrics.close();
        metrics.close();
        assertThatThrownBy(() -> metrics.bindTo(new SimpleMeterRegistry()))
                .isInstanceOf(IllegalStateException.class);
    }
}
