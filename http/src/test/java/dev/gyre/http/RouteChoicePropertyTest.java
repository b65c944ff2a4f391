package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// Any routes and any requests, beside a model that looks at all routes one by one.
@On("simulated")
class RouteChoicePropertyTest {
    private static final String ANY = "any";

    /// @param segments literals, `{}` for a parameter, and perhaps `{...}` at the end
    record Route(String method, List<String> segments) {
        String pattern() {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < segments.size(); i++) {
                text.append('/').append(segments.get(i).replace("{", "{p" + i));
            }
            return text.toString();
        }

        boolean matches(List<String> path) {
            boolean takesRest = segments.getLast().equals("{...}");
            if (takesRest ? path.size() < segments.size() : path.size() != segments.size()) {
                return false;
            }
            for (int i = 0; i < segments.size(); i++) {
                String part = segments.get(i);
                boolean fits =
                        switch (part) {
                            case "{...}" -> true;
                            case "{}" -> !path.get(i).isEmpty();
                            default -> part.equals(path.get(i));
                        };
                if (!fits) {
                    return false;
                }
            }
            return true;
        }

        /// Less is more literal.
        String rank() {
            return segments.stream()
                    .map(part -> part.equals("{}") ? "1" : part.equals("{...}") ? "2" : "0")
                    .collect(Collectors.joining());
        }

        /// How well it takes a method, less being better; negative if it does not.
        int fit(String asked) {
            return method.equals(asked)
                    ? 0
                    : asked.equals("HEAD") && method.equals("GET")
                            ? 1
                            : method.equals(ANY) ? 2 : -1;
        }

        Set<String> allowed() {
            return switch (method) {
                case ANY -> Set.of("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT");
                case "GET" -> Set.of("GET", "HEAD", "OPTIONS");
                case "OPTIONS" -> Set.of("OPTIONS");
                default -> Set.of(method, "OPTIONS");
            };
        }

        String name() {
            return method + " " + pattern();
        }
    }

    /// @param segments encoded
    record Asked(String method, List<String> segments) {
        List<String> path() {
            return segments.stream().map(text -> text.replace("%61", "a")).toList();
        }

        String head() {
            return method
                    + " /"
                    + String.join("/", segments)
                    + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        }
    }

    /// What is to come, of the status and the fields that tell.
    private static String model(Set<Route> routes, Asked asked) {
        List<Route> matching =
                routes.stream().filter(route -> route.matches(asked.path())).toList();
        return matching.stream()
                .filter(route -> route.fit(asked.method) >= 0)
                .min(
                        Comparator.comparing(Route::rank)
                                .thenComparingInt(route -> route.fit(asked.method)))
                .map(route -> "200 " + route.name())
                .orElseGet(() -> refusal(matching, asked.method));
    }

    private static String refusal(List<Route> matching, String method) {
        if (matching.isEmpty()) {
            return "404 ";
        }
        TreeSet<String> allowed = new TreeSet<>();
        matching.forEach(route -> allowed.addAll(route.allowed()));
        return (method.equals("OPTIONS") ? "204 " : "405 ") + String.join(", ", allowed);
    }

    private static String told(String answer) {
        StringBuilder told = new StringBuilder(answer.substring(9, 13));
        answer.lines()
                .filter(line -> line.startsWith("Allow: ") || line.startsWith("Route: "))
                .forEach(line -> told.append(line, 7, line.length()));
        return told.toString();
    }

    @Property(tries = 150)
    @Clause("H-5")
    void request_isAnsweredByTheMostLiteralRouteThatTakesIt(
            @ForAll("routes") Set<Route> routes, @ForAll("requests") List<Asked> requests) {
        try (SimulatedWorld world = SimulatedWorld.seed(1)) {
            HttpServer server = HttpServer.on(world.loop());
            for (Route route : routes) {
                Handler handler = (_, r) -> r.header("Route", route.name()).text("here");
                if (route.method.equals(ANY)) {
                    server.any(route.pattern(), handler);
                } else {
                    server.route(route.method, route.pattern(), handler);
                }
            }
            server.listen(80);
            List<SimulatedPeer> peers = new ArrayList<>();
            requests.forEach(asked -> peers.add(world.connect(80).send(asked.head())));
            world.advance(Duration.ofMillis(100));
            for (int i = 0; i < peers.size(); i++) {
                assertThat(told(peers.get(i).receivedText()))
                        .as("%s with %s", requests.get(i), routes)
                        .isEqualTo(model(routes, requests.get(i)));
            }
        }
    }

    @Provide
    Arbitrary<Set<Route>> routes() {
        Arbitrary<List<String>> inner =
                Arbitraries.of("a", "b", "a", "{}").list().ofMinSize(0).ofMaxSize(3);
        Arbitrary<String> last = Arbitraries.of("a", "b", "{}", "{...}", "");
        Arbitrary<String> method =
                Arbitraries.of("GET", "GET", "POST", "DELETE", "HEAD", "OPTIONS", ANY);
        return Combinators.combine(method, inner, last)
                .as(
                        (how, begin, end) -> {
                            List<String> segments = new ArrayList<>(begin);
                            segments.add(end);
                            return new Route(how, List.copyOf(segments));
                        })
                .set()
                .ofMinSize(1)
                .ofMaxSize(12);
    }

    @Provide
    Arbitrary<List<Asked>> requests() {
        Arbitrary<List<String>> inner =
                Arbitraries.of("a", "b", "%61", "c").list().ofMinSize(0).ofMaxSize(3);
        Arbitrary<String> last = Arbitraries.of("a", "b", "%61", "c", "");
        Arbitrary<String> method =
                Arbitraries.of("GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT");
        return Combinators.combine(method, inner, last)
                .as(
                        (how, begin, end) -> {
                            List<String> segments = new ArrayList<>(begin);
                            segments.add(end);
                            return new Asked(how, List.copyOf(segments));
                        })
                .list()
                .ofMinSize(1)
                .ofMaxSize(12);
    }
}
