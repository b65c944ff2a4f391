package dev.gyre.os;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.function.Consumer;

/// Bytes as they were read.
final class Chunks implements Chunker {
    private final Consumer<? super ByteBuffer> user;

    // Loop thread only.
    private @Nullable ByteBuffer next;

    Chunks(Consumer<? super ByteBuffer> user) {
        this.user = user;
    }

    @Override
    public void add(ByteBuffer chunk) {
        next = chunk.hasRemaining() ? chunk : null;
    }

    @Override
    public void end() {}

    @Override
    public boolean hasNext() {
        return next != null;
    }

    @Override
    public void handOverNext() {
        ByteBuffer chunk = next;
        assert chunk != null : "nothing to hand over";
        next = null;
        user.accept(chunk);
    }

    @Override
    public boolean isOverlong() {
        return false;
    }
}
