/// The command line: [Main] and one class for each of its subcommands.
@NullMarked
package dev.gyre.cli;

import org.jspecify.annotations.NullMarked;
