package dev.gyre.internal.backend.uring;

import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.backend.Request;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// What the rings of this kernel can do of that which is asked for. The rest is made by ourselves: after a
/// poll, or by a worker if it is about files.
///
/// Opcodes are told by the kernel when a ring is set up. Multishots and rings of buffers are not: they are
/// tried, and the first refusal is remembered.
///
/// Loop thread only, but for the description.
final class KernelFeatures {
    /// The stage of a CONNECT that the kernel has begun, as
    /// [SyscallExecutor][dev.gyre.internal.backend.Performer] has it.
    static final int CONNECTING = 1;

    private static final Opcode[] OPCODES = Opcode.values();

    /// A bit for each operation that the kernel has.
    private final long opcodes;

    // Shared: written by the loop thread, read by any.
    private volatile boolean choosesBuffers;
    private volatile boolean acceptsMultishot = true;
    private volatile boolean receivesMultishot = true;

    // Loop thread only.
    private boolean acceptedMultishot;
    private boolean receivedMultishot;

    /// All that a kernel with these opcodes may be able to do.
    ///
    /// @param opcodes a bit for each that the kernel knows
    KernelFeatures(long opcodes) {
        this.opcodes = opcodes;
        // Both or none: a buffer is the kernel's to choose or ours to take.
        choosesBuffers = isNative(Opcode.RECEIVE, true) && isNative(Opcode.RECEIVE, false);
    }

    private boolean isNative(Opcode opcode, boolean socket) {
        int known = SqeWriter.opcodeOf(opcode, socket);
        return known >= 0 && (opcodes & (1L << known)) != 0;
    }

    /// Whether the call is ours to make: the ring has no such operation, or cannot go on with it.
    boolean isPerformed(Request request) {
        return switch (request.opcode) {
            case RECEIVE -> !choosesBuffers;
            case CONNECT -> request.stage == CONNECTING || !isNative(request);
            case POLL_END -> false; // Every ring polls.
            default -> !isNative(request);
        };
    }

    private boolean isNative(Request request) {
        return isNative(request.opcode, SqeWriter.isOfSocket(request));
    }

    // ------------------------------------------------------------------ what is found out

    /// Whether the kernel chooses the buffers of RECEIVE, for all that is known.
    boolean choosesBuffers() {
        return choosesBuffers;
    }

    void refusedBuffers() {
        choosesBuffers = false;
    }

    /// Whether an operation may go on by itself, for all that is known.
    boolean hasMultishot(Opcode opcode) {
        return switch (opcode) {
            case ACCEPT -> acceptsMultishot;
            case RECEIVE -> receivesMultishot;
            default -> false;
        };
    }

    /// Whether one was seen to go on. What fails from then on does so for another reason.
    boolean isMultishotProven(Opcode opcode) {
        return opcode == Opcode.ACCEPT ? acceptedMultishot : receivedMultishot;
    }

    void provedMultishot(Opcode opcode) {
        if (opcode == Opcode.ACCEPT) {
            acceptedMultishot = true;
        } else {
            receivedMultishot = true;
        }
    }

    void refusedMultishot(Opcode opcode) {
        if (opcode == Opcode.ACCEPT) {
            acceptsMultishot = false;
        } else {
            receivesMultishot = false;
        }
    }

    // ------------------------------------------------------------------ for people

    /// In words: what is not the kernel's own work, as far as it is known yet. Any thread.
    String describe() {
        List<String> polled = new ArrayList<>();
        List<String> worked = new ArrayList<>();
        List<String> singly = new ArrayList<>();
        for (Opcode opcode : OPCODES) {
            boolean lacking =
                    opcode == Opcode.RECEIVE
                            ? !choosesBuffers
                            : opcode != Opcode.POLL_END
                                    && SqeWriter.opcodeOf(opcode, true) >= 0
                                    && !(isNative(opcode, true) && isNative(opcode, false));
            if (lacking) {
                (opcode.kind == Kind.FILE ? worked : polled).add(nameOf(opcode));
            } else if (isSingly(opcode)) {
                singly.add(nameOf(opcode));
            }
        }
        List<String> parts = new ArrayList<>();
        addTo(parts, "by poll: ", polled);
        addTo(parts, "one at a time: ", singly);
        addTo(parts, "by workers: ", worked);
        return parts.isEmpty() ? "all operations native" : String.join("; ", parts);
    }

    private boolean isSingly(Opcode opcode) {
        return (opcode == Opcode.ACCEPT || opcode == Opcode.RECEIVE) && !hasMultishot(opcode);
    }

    private static String nameOf(Opcode opcode) {
        return opcode.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static void addTo(List<String> parts, String how, List<String> names) {
        if (!names.isEmpty()) {
            parts.add(how + String.join(", ", names));
        }
    }
}
