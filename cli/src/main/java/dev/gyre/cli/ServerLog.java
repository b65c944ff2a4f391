package dev.gyre.cli;

import dev.gyre.http.JsonMapper;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/// The output of a server: text for people, or one JSON object per line. The format also applies to
/// the loggers of the libraries, which write to standard error.
///
/// Between [#start] and [#close] a thread of its own writes the lines, so that a paused terminal or
/// a full pipe does not block the loops. Lines beyond a queue of 8 192 are dropped and counted.
///
/// Any thread.
final class ServerLog implements AutoCloseable {
    /// The value of `--log-format`.
    enum Format {
        TEXT,
        JSON
    }

    private static final String LOGGER = "dev.gyre.cli";

    /// One line, with the arguments of [java.util.logging.SimpleFormatter]: time, source, logger,
    /// level, message, stack.
    private static final String TEXT = "%1$tFT%1$tT.%1$tL%1$tz %4$s %3$s: %5$s%6$s%n";

    private static final String TEXT_PROPERTY = "java.util.logging.SimpleFormatter.format";

    static final int MAX_QUEUED = 8_192;

    /// Bounds the wait for a terminal that is paused.
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    private final PrintWriter out;
    private final PrintWriter err;
    private final boolean json;

    private record Line(PrintWriter to, String text) {}

    /// Marks the end of the queue. No line equals it.
    private static final String END = "\n";

    private final BlockingQueue<Line> queue = new ArrayBlockingQueue<>(MAX_QUEUED);
    private final LongAdder dropped = new LongAdder();

    // Shared: set by the main thread, read by all threads. `null` while lines are written directly.
    private volatile @Nullable Thread writer;

    private ServerLog(PrintWriter out, PrintWriter err, boolean json) {
        this.out = out;
        this.err = err;
        this.json = json;
    }

    /// Sets the format of the loggers too. Text needs a property only: loading the loggers would
    /// delay a server's first response.
    static ServerLog open(CommandLine commandLine, Format format) {
        boolean json = format == Format.JSON;
        if (json) {
            JsonLines.install();
        } else if (System.getProperty(TEXT_PROPERTY) == null) {
            System.setProperty(TEXT_PROPERTY, TEXT);
        }
        return new ServerLog(commandLine.getOut(), commandLine.getErr(), json);
    }

    /// Prints a line on standard output: start, drain, end.
    void print(String line) {
        print(out, json ? jsonLine(Level.INFO, line) : line);
    }

    /// Prints a line on standard error: why the server cannot start or serve.
    void printError(String line) {
        print(err, json ? jsonLine(Level.ERROR, line) : line);
    }

    /// Logs an event on standard error, with its time.
    void log(Level level, String message) {
        print(err, logLine(level, message));
    }

    private String logLine(Level level, String message) {
        return json
                ? jsonLine(level, message)
                : String.format(
                                Locale.ROOT,
                                TEXT,
                                ZonedDateTime.now(ZoneId.systemDefault()),
                                "",
                                LOGGER,
                                level,
                                message,
                                "")
                        .stripTrailing();
    }

    // ------------------------------------------------------------------ writing

    private void print(PrintWriter to, String text) {
        Line line = new Line(to, text);
        if (writer == null) {
            write(line);
        } else if (!queue.offer(line)) {
            dropped.increment();
        }
    }

    private static void write(Line line) {
        line.to.println(line.text);
        line.to.flush();
    }

    /// Starts the thread that writes the lines. Main thread only.
    ///
    /// @return this log, for try-with-resources
    ServerLog start() {
        // No virtual thread: a blocked write would occupy its carrier.
        writer = Thread.ofPlatform().daemon().name("gyre-log").start(this::writeLines);
        return this;
    }

    private void writeLines() {
        try {
            for (Line line = queue.take(); !END.equals(line.text); line = queue.take()) {
                write(line);
                if (queue.isEmpty()) {
                    reportDropped();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        reportDropped();
    }

    private void reportDropped() {
        long lines = dropped.sumThenReset();
        if (lines > 0) {
            String message = "log lines dropped, because the output was blocked: " + lines;
            write(new Line(err, logLine(Level.WARNING, message)));
        }
    }

    /// Waits up to five seconds until the queued lines are written. Main thread only, after the
    /// loops have terminated.
    @Override
    public void close() {
        Thread running = writer;
        if (running == null) {
            return;
        }
        long deadline = System.nanoTime() + CLOSE_TIMEOUT.toNanos();
        try {
            if (queue.offer(new Line(err, END), CLOSE_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS)) {
                boolean _ =
                        running.join(Duration.ofNanos(Math.max(1, deadline - System.nanoTime())));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        writer = null;
    }

    // ------------------------------------------------------------------ JSON

    private static String jsonLine(Level level, String message) {
        return json(Instant.now(), level.name(), LOGGER, message, null);
    }

    private static String json(
            Instant time, String level, String logger, String message, @Nullable Throwable thrown) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("time", time);
        fields.put("level", level);
        fields.put("logger", logger);
        fields.put("message", message);
        if (thrown != null) {
            StringWriter stack = new StringWriter();
            thrown.printStackTrace(new PrintWriter(stack, true));
            fields.put("stack", stack.toString());
        }
        return new String(JsonMapper.writeOnly().write(fields), StandardCharsets.UTF_8);
    }

    /// Formats the records of the loggers.
    private static final class JsonLines extends Formatter {
        static void install() {
            for (Handler each : Logger.getLogger("").getHandlers()) {
                each.setFormatter(new JsonLines());
            }
        }

        @Override
        public String format(LogRecord entry) {
            java.util.logging.Level level = entry.getLevel();
            String name = level.equals(java.util.logging.Level.SEVERE) ? "ERROR" : level.getName();
            return json(
                            entry.getInstant(),
                            name,
                            String.valueOf(entry.getLoggerName()),
                            formatMessage(entry),
                            entry.getThrown())
                    + System.lineSeparator();
        }
    }
}
