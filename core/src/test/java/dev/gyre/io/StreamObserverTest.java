package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.Promise;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

final class StreamObserverTest {
    @Test
    @Clause("V-2")
    void onStreamOpened_isCalledOncePerStream_andSeesItsEnd() {
        List<Long> opened = new ArrayList<>();
        List<CloseReason> closed = new ArrayList<>();
        LoopObserver observer =
                new LoopObserver() {
                    @Override
                    public void onStreamOpened(Stream stream) {
                        opened.add(stream.id());
                        stream.onClose(
                                reason -> {
                                    closed.add(reason);
                                    if (closed.size() == 2) {
                                        stream.loop().stop();
                                    }
                                });
                    }
                };
        try (EventLoop loop = EventLoop.open(LoopConfig.DEFAULT.withObserver(observer))) {
            var here = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            var listener = Listener.tcp(loop, here, accepted -> accepted.onEnd(accepted::end));
            Promise<?> _ = Stream.connect(loop, listener.address()).thenAccept(Stream::end);
            loop.run();
            assertThat(opened).hasSize(2).doesNotHaveDuplicates();
            assertThat(closed).containsExactly(CloseReason.ENDED, CloseReason.ENDED);
            assertThat(loop.metrics().streamsOpened()).isEqualTo(2);
        }
    }
}
