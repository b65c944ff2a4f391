package dev.gyre.cli.admin;

import static dev.gyre.cli.admin.Figures.percent;
import static dev.gyre.cli.admin.Figures.scaled;
import static dev.gyre.cli.admin.Figures.seconds;
import static dev.gyre.cli.admin.Figures.words;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.cli.admin.Table.Column;

import org.jspecify.annotations.Nullable;

import java.net.URLEncoder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/// The contents of `gyre top`: two views of a server's figures, as lines of text.
///
/// Loop thread only.
public final class TopScreen {
    public static final int MIN_COLUMNS = 60;
    public static final int MIN_ROWS = 10;

    /// The orders of connections, as the server names them.
    private static final List<String> SORTS = List.of("age", "idle", "received", "sent", "pending");

    /// How a line is shown.
    public enum Style {
        PLAIN,
        HEADER,
        ALERT
    }

    public record Line(String text, Style style) {}

    private final Table<Json> loopTable =
            new Table<>(
                    List.of(
                            Column.text("LOOP", 10, 0, loop -> loop.get("name").text()),
                            Column.number("BUSY", 5, 0, loop -> percent(busy(loop))),
                            Column.number("DELAY50", 7, 4, loop -> delay(loop, "p50")),
                            Column.number("P99", 6, 0, loop -> delay(loop, "p99")),
                            Column.number("MAX", 6, 3, loop -> delay(loop, "max")),
                            Column.number("CONN", 6, 0, loop -> figure(loop, "connections")),
                            Column.number("REQ/S", 6, 0, loop -> scaled(perSecond(loop))),
                            Column.number("QUEUE", 6, 1, loop -> figure(loop, "queuedTasks")),
                            Column.number("MEMORY", 11, 2, TopScreen::memory),
                            Column.text("RUNNING", 8, 0, TopScreen::running)));

    private final Table<Json> connectionTable =
            new Table<>(
                    List.of(
                            Column.number("ID", 7, 0, c -> c.get("id").text()),
                            Column.text("PEER", 21, 0, c -> c.get("peer").text()),
                            Column.text("LOOP", 9, 3, c -> c.get("loop").text()),
                            Column.text("STATE", 10, 0, c -> words(c.get("state").text())),
                            Column.number("AGE", 6, 0, c -> time(c, "ageSeconds")),
                            Column.number("IDLE", 6, 1, c -> time(c, "idleSeconds")),
                            Column.number("IN", 5, 2, c -> figure(c, "received")),
                            Column.number("OUT", 5, 2, c -> figure(c, "sent")),
                            Column.number("PENDING", 7, 4, c -> figure(c, "pending")),
                            Column.text("ACTIVITY", 10, 0, c -> c.get("activity").text())));

    private final String address;

    private boolean showsConnections;
    private int sort;
    private String filter = "";

    /// The filter that is being typed; null if none.
    private @Nullable StringBuilder typing;

    private Json loops = new Json(null);
    private Json earlier = new Json(null);
    private Json connections = new Json(null);
    private String problem = "";

    public TopScreen(String address, boolean showsConnections) {
        this.address = address;
        this.showsConnections = showsConnections;
    }

    /// Returns the path of the list of connections; null if it is not shown.
    public @Nullable String connectionsPath() {
        if (!showsConnections) {
            return null;
        }
        String path = "/connections?limit=1000&sort=" + SORTS.get(sort);
        return filter.isEmpty()
                ? path
                : path + "&q=" + URLEncoder.encode(filter, UTF_8).replace("+", "%20");
    }

    /// Sets the response to `/loops`. Rates are those since the previous one.
    public void updateLoops(Json response) {
        // The server restarted: its counters are not comparable.
        earlier = loops.get("pid").equals(response.get("pid")) ? loops : new Json(null);
        loops = response;
        problem = "";
    }

    public void updateConnections(Json response) {
        connections = response;
    }

    /// Shows an error above the last known figures.
    public void fail(String message) {
        problem = message;
    }

    /// Handles a key.
    ///
    /// @return false to quit
    public boolean press(char key) {
        if (key == 3) { // Ctrl-C
            return false;
        }
        if (typing != null) {
            type(typing, key);
            return true;
        }
        switch (key) {
            case 'q' -> {
                return false;
            }
            case 'c' -> showsConnections = true;
            case 'l' -> showsConnections = false;
            case 's' -> sort = (sort + 1) % SORTS.size();
            case '/' -> {
                showsConnections = true;
                typing = new StringBuilder(filter);
            }
            default -> {
                // No such key.
            }
        }
        return true;
    }

    private void type(StringBuilder text, char key) {
        switch (key) {
            case '\r', '\n' -> {
                filter = text.toString();
                typing = null;
            }
            case 27 -> typing = null; // Escape
            case '\b', 127 -> text.setLength(Math.max(0, text.length() - 1));
            default -> {
                if (!Character.isISOControl(key)) {
                    text.append(key);
                }
            }
        }
    }

    /// Returns the lines for a terminal.
    public List<Line> draw(int columns, int rows) {
        if (columns < MIN_COLUMNS || rows < MIN_ROWS) {
            return List.of(
                    new Line("terminal %dx%d: too small".formatted(columns, rows), Style.ALERT),
                    new Line("need %dx%d; q quits".formatted(MIN_COLUMNS, MIN_ROWS), Style.PLAIN));
        }
        List<Line> lines = text(columns);
        int room = rows - 1;
        if (lines.size() > room) {
            int hidden = lines.size() - room + 1;
            lines = new ArrayList<>(lines.subList(0, room - 1));
            lines.add(new Line("... %d more lines".formatted(hidden), Style.PLAIN));
        }
        while (lines.size() < room) {
            lines.add(new Line("", Style.PLAIN));
        }
        lines.add(new Line(keys(), Style.HEADER));
        return lines.stream().map(line -> new Line(cut(line.text, columns), line.style)).toList();
    }

    private String keys() {
        if (typing != null) {
            return "filter: " + typing + "_   (Enter applies, Esc cancels)";
        }
        return showsConnections
                ? "q quit   l loops   s sort: " + SORTS.get(sort) + "   / filter"
                : "q quit   c connections   / filter connections";
    }

    /// Returns all lines, without the keys.
    public List<Line> text(int columns) {
        List<Line> lines = new ArrayList<>();
        lines.add(new Line(title(), Style.PLAIN));
        lines.add(new Line(totals(), Style.PLAIN));
        if (!problem.isEmpty()) {
            lines.add(new Line(problem, Style.ALERT));
        }
        if (showsConnections) {
            addConnections(lines, columns);
        } else {
            addLoops(lines, columns);
        }
        return lines;
    }

    private String title() {
        String version = Figures.printable(loops.get("version").text());
        return "Gyre %sat %s, process %s, up %s"
                .formatted(
                        version.isEmpty() ? "" : version + " ",
                        address,
                        loops.get("pid").text(),
                        time(loops, "uptimeSeconds"));
    }

    private String totals() {
        double open = 0;
        double rate = 0;
        double queued = 0;
        double memory = 0;
        long silent = 0;
        for (Json loop : loops.get("loops").list()) {
            open += loop.get("connections").number();
            rate += perSecond(loop);
            queued += loop.get("queuedTasks").number();
            memory += loop.get("bufferBytes").number();
            silent += isSilent(loop) ? 1 : 0;
        }
        return "%s connections, %s requests/s, %s queued, %sB buffers%s"
                .formatted(
                        scaled(open),
                        scaled(rate),
                        scaled(queued),
                        scaled(memory),
                        silent == 0 ? "" : ", not responding: " + silent);
    }

    private void addLoops(List<Line> lines, int columns) {
        Table<Json> table = loopTable.fit(columns);
        lines.add(new Line(table.header(columns), Style.HEADER));
        for (Json loop : loops.get("loops").list()) {
            Style style = isSilent(loop) ? Style.ALERT : Style.PLAIN;
            lines.add(new Line(table.row(columns, loop), style));
            String running = running(loop);
            if (!loop.get("running").isNull() && running.length() > table.lastWidth(columns)) {
                lines.add(new Line("  " + Figures.printable(running), style));
            }
        }
    }

    private void addConnections(List<Line> lines, int columns) {
        List<Json> found = connections.get("connections").list();
        List<String> silent =
                connections.get("notResponding").list().stream().map(Json::text).toList();
        lines.add(
                new Line(
                        "%d of %s connections by %s%s%s"
                                .formatted(
                                        found.size(),
                                        connections.get("total").text(),
                                        SORTS.get(sort),
                                        filter.isEmpty() ? "" : ", filter: " + filter,
                                        silent.isEmpty()
                                                ? ""
                                                : "; not responding: " + String.join(", ", silent)),
                        silent.isEmpty() ? Style.PLAIN : Style.ALERT));
        Table<Json> table = connectionTable.fit(columns);
        lines.add(new Line(table.header(columns), Style.HEADER));
        found.forEach(each -> lines.add(new Line(table.row(columns, each), Style.PLAIN)));
    }

    // ------------------------------------------------------------------ figures

    private static boolean isSilent(Json loop) {
        return Boolean.FALSE.equals(loop.get("responding").value());
    }

    private Json before(Json loop) {
        return earlier.get("loops").list().stream()
                .filter(each -> each.get("name").equals(loop.get("name")))
                .findFirst()
                .orElse(new Json(null));
    }

    /// Returns the share of active time since the previous response.
    private double busy(Json loop) {
        Json before = before(loop);
        double active = increase(loop, before, "activeSeconds");
        double whole = active + increase(loop, before, "idleSeconds");
        return before.isNull() || whole <= 0
                ? loop.get("utilization").number()
                : Math.clamp(active / whole, 0, 1);
    }

    private double perSecond(Json loop) {
        Json before = before(loop);
        double elapsed = before.isNull() ? 0 : elapsedSeconds();
        return elapsed <= 0 ? 0 : Math.max(0, increase(loop, before, "requests") / elapsed);
    }

    private double elapsedSeconds() {
        Instant from = Instant.parse(earlier.get("time").text());
        return Duration.between(from, Instant.parse(loops.get("time").text())).toNanos() / 1e9;
    }

    private static double increase(Json loop, Json before, String name) {
        return loop.get(name).number() - before.get(name).number();
    }

    private static String delay(Json loop, String quantile) {
        return seconds(loop.get("taskDelay").get(quantile).number());
    }

    private static String figure(Json of, String name) {
        return scaled(of.get(name).number());
    }

    private static String time(Json of, String name) {
        return seconds(of.get(name).number());
    }

    private static String memory(Json loop) {
        return figure(loop, "bufferBytes") + "/" + figure(loop, "bufferLimit");
    }

    private static String running(Json loop) {
        Json running = loop.get("running");
        if (running.isNull()) {
            return words(loop.get("state").text());
        }
        return "%s for %s: %s"
                .formatted(
                        words(running.get("kind").text()),
                        time(running, "seconds"),
                        running.get("description").text());
    }

    private static String cut(String text, int columns) {
        return text.length() <= columns ? text : text.substring(0, columns);
    }
}
