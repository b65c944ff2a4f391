/// The command line, `gyre`.
@SuppressWarnings(
        "requires-automatic") // HdrHistogram has no descriptor, nor a name in its manifest
module dev.gyre.cli {
    requires dev.gyre;
    requires dev.gyre.http;
    requires java.logging; // to hush it
    requires HdrHistogram;
    requires info.picocli;
    requires static org.jspecify;

    // picocli makes the commands and fills their options by reflection.
    opens dev.gyre.cli to
            info.picocli;
}
