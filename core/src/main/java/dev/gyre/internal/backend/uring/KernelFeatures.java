package dev.gyre.internal.backend.uring;

import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.backend.SyscallExecutor;

import java.util.Locale;
import java.util.StringJoiner;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The operations that this kernel supports. The others are emulated: by a system call after a
/// poll, or by a worker thread for files.
///
/// The kernel lists its opcodes at set-up. It does not list multishot variants and provided buffer
/// rings, so those are tried, and the first refusal is remembered.
///
/// Loop thread only, except for [#describe()].
final class KernelFeatures {
    private static final Opcode[] OPCODES = Opcode.values();

    /// Bit n is set if the kernel supports opcode n.
    private final long opcodes;

    // Shared: written by the loop thread, read by any thread.
    private volatile boolean selectsBuffers;
    private volatile long refusedMultishots;

    // Loop thread only.
    private boolean acceptConfirmed;
    private boolean receiveConfirmed;

    KernelFeatures(long opcodes) {
        this.opcodes = opcodes;
        // For sockets and other files, or for neither: one pool of buffers serves both.
        selectsBuffers = isNative(Opcode.RECEIVE, true) && isNative(Opcode.RECEIVE, false);
    }

    private boolean isNative(Opcode opcode, boolean socket) {
        int known = SqeWriter.opcodeOf(opcode, socket);
        return known >= 0 && (opcodes & (1L << known)) != 0;
    }

    /// Returns whether the loop makes the system call itself, because the ring cannot.
    boolean isEmulated(Request request) {
        return switch (request.opcode) {
            case RECEIVE -> !selectsBuffers;
            case CONNECT -> request.stage == SyscallExecutor.CONNECTING || !isNative(request);
            case POLL_END -> false; // POLL_ADD is required at set-up.
            default -> !isNative(request);
        };
    }

    private boolean isNative(Request request) {
        return isNative(request.opcode, SqeWriter.isSocket(request));
    }

    /// Returns whether the kernel selects the buffers of RECEIVE. True until it refuses.
    boolean selectsBuffers() {
        return selectsBuffers;
    }

    void onBufferRingRefused() {
        selectsBuffers = false;
    }

    /// Returns whether the opcode has a multishot variant. True until the kernel refuses.
    boolean supportsMultishot(Opcode opcode) {
        return hasMultishot(opcode) && (refusedMultishots & bit(opcode)) == 0;
    }

    void onMultishotRefused(Opcode opcode) {
        refusedMultishots = refusedMultishots | bit(opcode);
    }

    /// Returns whether a multishot has continued once. Later failures have another cause.
    boolean isMultishotConfirmed(Opcode opcode) {
        return opcode == Opcode.ACCEPT ? acceptConfirmed : receiveConfirmed;
    }

    void onMultishotConfirmed(Opcode opcode) {
        if (opcode == Opcode.ACCEPT) {
            acceptConfirmed = true;
        } else {
            receiveConfirmed = true;
        }
    }

    private static boolean hasMultishot(Opcode opcode) {
        return opcode == Opcode.ACCEPT || opcode == Opcode.RECEIVE;
    }

    private static long bit(Opcode opcode) {
        return 1L << SqeWriter.opcodeOf(opcode, true);
    }

    /// Lists the operations that are known to be emulated or single shot. Any thread.
    String describe() {
        StringJoiner byPoll = new StringJoiner(", ", "by poll: ", "").setEmptyValue("");
        StringJoiner singleShot = new StringJoiner(", ", "one at a time: ", "").setEmptyValue("");
        StringJoiner byWorkers = new StringJoiner(", ", "by workers: ", "").setEmptyValue("");
        for (Opcode opcode : OPCODES) {
            String name = opcode.name().toLowerCase(Locale.ROOT).replace('_', '-');
            boolean emulated =
                    opcode == Opcode.RECEIVE
                            ? !selectsBuffers
                            : opcode != Opcode.POLL_END
                                    && SqeWriter.opcodeOf(opcode, true) >= 0
                                    && !(isNative(opcode, true) && isNative(opcode, false));
            if (emulated) {
                (opcode.kind == Kind.FILE ? byWorkers : byPoll).add(name);
            } else if (hasMultishot(opcode) && !supportsMultishot(opcode)) {
                singleShot.add(name);
            }
        }
        String list =
                Stream.of(byPoll, singleShot, byWorkers)
                        .map(StringJoiner::toString)
                        .filter(part -> !part.isEmpty())
                        .collect(Collectors.joining("; "));
        return list.isEmpty() ? "all operations native" : list;
    }
}
