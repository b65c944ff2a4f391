/// Gyre's core: the event loop and the operating system beneath it, with no runtime dependency.
@SuppressWarnings("module") // the command line is built after the core, which cannot see it yet
module dev.gyre {
    requires static transitive org.jspecify; // in signatures
    requires jdk.unsupported; // sun.misc.Signal, the only way to the JVM's own signal handler

    exports dev.gyre;
    exports dev.gyre.io;
    exports dev.gyre.metrics;
    exports dev.gyre.os;

    // `gyre doctor` asks the kernel itself which calls it allows and what its limits are.
    exports dev.gyre.internal.sys to
            dev.gyre.cli;
}
