package dev.gyre.http.internal.admin;

import static dev.gyre.http.internal.admin.AdminSources.seconds;

import dev.gyre.EventLoop;
import dev.gyre.LoopState;
import dev.gyre.Promise;
import dev.gyre.http.ErrorFormat;
import dev.gyre.http.Handler;
import dev.gyre.http.HttpException;
import dev.gyre.http.HttpServer;
import dev.gyre.http.PrometheusText;
import dev.gyre.http.Request;
import dev.gyre.http.Response;
import dev.gyre.http.internal.server.MetricsText;
import dev.gyre.metrics.Stall;
import dev.gyre.metrics.Watchdog;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/// The endpoints of the admin address.
///
/// Loop thread of the admin address only.
public final class AdminRoutes {
    private static final Set<String> SAFE_METHODS = Set.of("GET", "HEAD", "OPTIONS");

    private static final String PAGE = "/dev/gyre/http/admin/dashboard.html";

    /// Names and literals of this machine, with or without a port.
    private static final Pattern LOCAL_HOST =
            Pattern.compile(
                    "(localhost|127(\\.\\d{1,3}){3}|\\[::1])\\.?(:\\d+)?",
                    Pattern.CASE_INSENSITIVE);

    /// The page has its scripts and styles inside, and talks to this server only.
    private static final String PAGE_POLICY =
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline';"
                    + " img-src 'self' data:; connect-src 'self'; base-uri 'none';"
                    + " form-action 'none'; frame-ancestors 'none'";

    private final AdminSources sources;
    private final boolean checksHost;
    private final LoopFigures figures;
    private final ConnectionSearch connections;
    private final byte[] page = page();

    private AdminRoutes(EventLoop admin, AdminSources sources, boolean checksHost) {
        this.sources = sources;
        this.checksHost = checksHost;
        figures = new LoopFigures(sources, admin);
        connections = new ConnectionSearch(sources, admin);
    }

    /// Adds the endpoints to a server.
    ///
    /// @param checksHost whether only requests for a local host are served
    public static void addTo(HttpServer server, AdminSources sources, boolean checksHost) {
        AdminRoutes routes = new AdminRoutes(server.loop(), sources, checksHost);
        TraceControl trace = new TraceControl(sources.trace(), server.loop());
        server.errorFormat(ErrorFormat.PROBLEM_JSON)
                .use(routes::protect)
                .get("/", routes::dashboard)
                .get("/metrics", routes::metrics)
                .get("/loops", (_, response) -> response.json(routes.figures.all()))
                .get("/connections", routes::connections)
                .get("/connections/{id}", routes::connection)
                .get("/stalls", routes::stalls)
                .get("/trace", trace::dump)
                .post("/trace", trace::start)
                .delete("/trace", trace::stop)
                .get("/health", routes::health);
    }

    // ------------------------------------------------------------------ access

    /// Rejects requests that a page of another site could have sent.
    private Promise<?> protect(Request request, Response response, Handler next) throws Exception {
        response.header("Cache-Control", "no-store");
        response.header("X-Content-Type-Options", "nosniff");
        response.header("Cross-Origin-Resource-Policy", "same-origin");
        if (checksHost && !LOCAL_HOST.matcher(request.host()).matches()) {
            throw new HttpException(
                    421, "use the host name localhost: this address serves this machine only");
        }
        if (isFromAnotherSite(request)) {
            throw new HttpException(403, "pages of other sites cannot read this address");
        }
        if (!SAFE_METHODS.contains(request.method())
                && !"1".equals(request.header("X-Gyre-Admin"))) {
            throw new HttpException(403, "this request needs the header X-Gyre-Admin: 1");
        }
        return next.handle(request, response);
    }

    /// Browsers say which site a request comes from. A link to the dashboard is allowed.
    private static boolean isFromAnotherSite(Request request) {
        String site = request.header("Sec-Fetch-Site");
        boolean navigates =
                "navigate".equals(request.header("Sec-Fetch-Mode")) && request.path().equals("/");
        return ("cross-site".equals(site) || "same-site".equals(site)) && !navigates;
    }

    // ------------------------------------------------------------------ endpoints

    private static byte[] page() {
        try (InputStream page = AdminRoutes.class.getResourceAsStream(PAGE)) {
            if (page == null) {
                throw new IllegalStateException(PAGE + " is missing in the jar");
            }
            return page.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Promise<?> dashboard(Request request, Response response) {
        return response.type("text/html; charset=utf-8")
                .header("Content-Security-Policy", PAGE_POLICY)
                .header("Referrer-Policy", "no-referrer")
                .send(page);
    }

    private Promise<?> metrics(Request request, Response response) {
        return request.loop()
                .promisify(_ -> MetricsText.of(sources.loops().get(), sources.metrics()))
                .then(text -> response.type(PrometheusText.MEDIA_TYPE).text(text));
    }

    private Promise<?> connections(Request request, Response response) {
        return connections.search(request).then(response::json);
    }

    private Promise<?> connection(Request request, Response response) {
        return connections.find(request.pathParam("id")).then(response::json);
    }

    private Promise<?> stalls(Request request, Response response) {
        Watchdog watchdog = sources.watchdog();
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("limitSeconds", watchdog == null ? null : seconds(watchdog.limit()));
        json.put(
                "stalls",
                watchdog == null
                        ? List.of()
                        : watchdog.recent().stream().map(AdminRoutes::json).toList());
        return response.json(json);
    }

    private static Map<String, Object> json(Stall stall) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("loop", stall.loop());
        json.put("began", stall.began());
        json.put("seconds", seconds(stall.elapsed()));
        json.put("limitSeconds", seconds(stall.limit()));
        json.put("ended", stall.ended());
        json.put("kind", LoopFigures.nameOf(stall.kind()));
        json.put("description", stall.description());
        json.put("stack", stall.stack().stream().map(StackTraceElement::toString).toList());
        return json;
    }

    private Promise<?> health(Request request, Response response) {
        boolean terminated =
                sources.loops().get().stream()
                        .allMatch(loop -> loop.state() == LoopState.TERMINATED);
        String status = terminated ? "down" : sources.draining().getAsBoolean() ? "draining" : "up";
        return response.status(status.equals("up") ? 200 : 503).json(Map.of("status", status));
    }
}
