/// Gyre's test kit: a simulated world of sockets, pipes, files and time for loops to run in.
module dev.gyre.testkit {
    requires transitive dev.gyre;
    requires static transitive org.jspecify; // in signatures

    exports dev.gyre.testkit;
}
