package dev.gyre;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/// Captures Gyre's log instead of printing it, until closed.
public final class LogCapture extends Handler implements AutoCloseable {
    // Strongly referenced: a collected logger loses its handlers.
    private final Logger logger = Logger.getLogger("dev.gyre");
    private final List<String> messages = new CopyOnWriteArrayList<>();
    private final List<String> levels = new CopyOnWriteArrayList<>();

    public LogCapture() {
        logger.setUseParentHandlers(false);
        logger.addHandler(this);
    }

    public List<String> messages() {
        return messages;
    }

    /// Returns the level of each message.
    public List<String> levels() {
        return levels;
    }

    @Override
    public void publish(LogRecord entry) {
        messages.add(entry.getMessage());
        levels.add(entry.getLevel().getName());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        logger.removeHandler(this);
        logger.setUseParentHandlers(true);
    }
}
