package dev.gyre.internal.net;

import dev.gyre.io.Buffer;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// The protocol of a stream that has single callbacks.
record StreamCallbacks(Consumer<? super Buffer> data, @Nullable Runnable end) implements Protocol {
    @Override
    public String describe(Stream stream) {
        return "";
    }

    @Override
    public void onData(Stream stream, Buffer arrived) {
        data.accept(arrived);
    }

    @Override
    public void onEnd(Stream stream) {
        if (end == null) {
            stream.end();
        } else {
            end.run();
        }
    }
}
