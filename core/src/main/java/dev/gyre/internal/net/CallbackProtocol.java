package dev.gyre.internal.net;

import dev.gyre.io.Buffer;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// The protocol of a stream that has single callbacks instead.
final class CallbackProtocol implements Protocol {
    private final Consumer<? super Buffer> data;
    private final @Nullable Runnable end;

    CallbackProtocol(Consumer<? super Buffer> data, @Nullable Runnable end) {
        this.data = data;
        this.end = end;
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
