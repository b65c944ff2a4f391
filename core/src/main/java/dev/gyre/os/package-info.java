/// The operating system on the loop: pipes, signals, child processes, file watching, standard input
/// and the terminal.
@NullMarked
package dev.gyre.os;

import org.jspecify.annotations.NullMarked;
